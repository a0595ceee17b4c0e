"""XPlane profiles of JAX and XLA (`.xplane.pb`), plain or gzip: a trace of the GPUs and the host of one process.

Times are picoseconds from the begin of their line; each is rounded to whole ns by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import FileFormatError
from .events import Caution, Device, Trace
from .mapped import mapped
from .protobuf import Damage, fields, text
from .sources import Progress, Source
from .xplane_messages import Plane, complaints, planes
from .xplane_rows import Rows

FORMAT = "xplane"
_GPU = re.compile(r"^/device:GPU:(\d+)$")
_OTHER = re.compile(r"^/device:(?!GPU:)")
_METADATA = "/host:metadata"  # programs
_HOST = "/host:"
_SESSION = "Task Environment"
_NAMES = ("/host:", "/device:", _SESSION, "#Chkpt")


def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    """Whether the first field is a plane: a message with a name that planes have."""
    first = next(fields(memoryview(head), Damage()), None)
    if first is None or first[0] != 1 or not isinstance(first[1], memoryview):
        return False
    for (number, value), _ in zip(fields(first[1], Damage()), range(2), strict=False):  # an id may come first
        if number == 2:
            return text(value).startswith(_NAMES)
    return False


def read(path: Path, progress: Progress | None = None) -> list[Trace]:
    """The one trace of a file.

    Raises:
        FileFormatError: no events can be read.
    """
    source = Source(path, progress)
    data, damage = mapped(source), Damage()
    rows, devices, others, base_ns = Rows(damage), [], [], 0
    for plane in planes(data, damage):
        gpu = _GPU.match(plane.name)
        if gpu:
            devices.append(_device(int(gpu[1]), plane))
            rows.add(plane, int(gpu[1]))
        elif plane.name.startswith(_HOST) and plane.name != _METADATA:
            rows.add(plane, None)
        elif plane.name == _SESSION:
            base_ns = _began(plane)
        elif _OTHER.match(plane.name):
            others.append(plane.name)
    if not len(rows.builder):
        raise FileFormatError(f"{path.name}: no events of a GPU or the host can be read in this XPlane profile")
    latest = int(rows.builder.main.column("start_ns").max())
    events = rows.builder.events(base_ns if latest < base_ns else 0)  # some lines count from 1970 already
    cautions = (*_damage(source, data, damage), *_left_out(rows, others, complaints(data)))
    return [Trace(source=path.name, format=FORMAT, events=events, devices=tuple(devices), cautions=cautions)]


def _device(number: int, plane: Plane) -> Device:
    said = plane.stats
    whole = {key: value for key, value in said.items() if isinstance(value, int) and value > 0}
    major, minor = whole.get("compute_cap_major"), said.get("compute_cap_minor", 0)
    is_cuda = major is not None and said.get("device_vendor") == "Nvidia"
    return Device(
        number=number, name=str(said.get("device_type_string", "")), num_sms=whole.get("core_count"),
        dram_bytes=whole.get("memory_size"),
        compute_capability=(int(major or 0), int(minor)) if is_cuda else None,
    )  # fmt: skip


def _began(plane: Plane) -> int:
    """When the session began, in ns since 1970; 0 where the file does not say it."""
    value = plane.stats.get("profile_start_time", 0)
    return value if isinstance(value, int) and value > 0 else 0


def _damage(source: Source, data: memoryview, damage: Damage) -> Iterator[Caution]:
    if source.cut:
        yield Caution(text=f"the file is damaged: {source.cut}; what comes after is not known")
    if damage.is_cut:
        yield Caution(text="the file is damaged: some of its fields are longer than what is there")
    if damage.bytes:
        share = min(1.0, damage.bytes / max(len(data), 1))
        yield Caution(text="bytes cannot be read; the share is of the file", count=damage.bytes, share=share)


def _left_out(rows: Rows, others: list[str], complaints: int) -> Iterator[Caution]:
    for what, count in sorted(rows.left_out.items()):
        if count:
            yield Caution(
                text=f"{what} {'are not in the file' if what.startswith('names') else 'left out'}", count=count
            )
    if rows.builder.duplicates:
        yield Caution(text="copies of GPU events that were there twice left out", count=rows.builder.duplicates)
    if others:
        yield Caution(text="planes of devices that are no GPUs are not read", count=len(others))
    if complaints:
        yield Caution(text="errors and warnings of the profiler are in the file", count=complaints)
