"""Traces of the PyTorch profiler: Kineto's JSON of every age since 2020, plain, gzip or zstd.

Times are decimal µs, since 1970 or since `baseTimeNanoseconds`; each is rounded to whole ns by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import FileFormatError
from .building import Builder
from .events import Caution, Kind, Trace
from .json_events import begins_later
from .kineto_batches import Decoded, Known, Scanned
from .kineto_early import NotEarlyError, runs_early
from .kineto_halves import join
from .kineto_host import Host
from .kineto_rows import LATEST_NS, Rows
from .kineto_stream import Beside, Run, is_object, is_of_kineto, runs
from .sources import HEAD, Progress, Source, named

FORMAT = "kineto"


def recognises(head: bytes, path: Path) -> bool:
    """Whether the first bytes, unpacked, are those of such a file, or of JSON that has its events further behind."""
    is_long = len(head) >= HEAD and is_object(head)
    return is_of_kineto(head) or (is_long and begins_later(Source(path)))


def read(path: Path, progress: Progress | None = None, python: bool = False) -> list[Trace]:
    """The one trace of a file; short frames of Python only where `python` asks for them.

    Raises:
        FileFormatError: it holds no list of events, or none of them can be read.
    """
    rows, beside = _events(path, progress, python)
    builder = rows.builder
    lost = join(rows) if rows.halves else 0
    if not len(builder) and beside.unread:
        raise FileFormatError(f"{path.name}: none of its events can be read; right would be JSON of trace events")
    if not len(builder) and rows.unknown:
        raise FileFormatError(
            f"{path.name}: its events are of another tool, in categories such as {rows.some_unknown()}; right would be"
            " those of torch.profiler, such as kernel and cpu_op"
        )
    host = Host(beside.texts)
    base_ns = host.base_ns if host.base_ns + builder.latest_ns() <= LATEST_NS else 0
    events = builder.events(base_ns)
    cautions = [*_damage(beside, host), *host.cautions(base_ns), *_left_out(rows, lost, builder.duplicates)]
    return [
        Trace(
            source=named(path), format=FORMAT, events=events, rank=host.rank, world_size=host.world_size,
            devices=host.devices, host=host.versions, groups=host.groups, cautions=tuple(cautions),
        )
    ]  # fmt: skip


def _events(path: Path, progress: Progress | None, python: bool) -> tuple[Rows, Beside]:
    """The events as rows, and what is known beside them."""
    try:
        return _rows(runs_early(path, progress), python)
    except NotEarlyError:
        return _rows(runs(path, progress), python)


def _rows(given: Iterable[Run | Beside], python: bool) -> tuple[Rows, Beside]:
    rows, known = Rows(Builder(), python), Known()
    for run in given:
        if isinstance(run, Beside):
            return rows, run
        rows.add(Decoded(run) if isinstance(run, list) else Scanned(run, known))
    raise AssertionError("runs end with what is known beside them")


def _damage(beside: Beside, host: Host) -> list[Caution]:
    """What is wrong with the text of the file."""
    found = []
    if beside.cut:
        found.append(Caution(text=f"the file is damaged: {beside.cut}; what comes after is not known"))
    elif not beside.is_whole:
        found.append(Caution(text="the file ends before its list of events does; what comes after is not known"))
    if beside.unread:
        share = beside.unread_bytes / max(beside.total_bytes, 1)
        found.append(Caution(text="events cannot be read; the share is of the file", count=beside.unread, share=share))
    if mended := beside.mended + host.mended:
        text = "events, or what stands beside them, had odd characters or values, which were replaced"
        found.append(Caution(text=text, count=mended))
    if host.is_lost:
        found.append(Caution(text="what stands beside the events cannot be read: no devices, ranks or base time"))
    return found


def _left_out(rows: Rows, lost: int, duplicates: int) -> list[Caution]:
    """What of the events that were read is not in the table."""
    found = [
        *_by_kind(rows.untimed, "without a time set aside"),
        *_by_kind(rows.negative, "with a negative duration set aside"),
        *_by_kind(rows.nameless, "without a name"),
        *_by_kind(rows.placeless, "without a device"),
    ]
    if rows.unknown:
        text = f"events of unknown categories left out: {rows.some_unknown()}"
        found.append(Caution(text=text, count=rows.unknown))
    if lost:
        found.append(Caution(text="begins or ends of events without the other half left out", count=lost))
    if duplicates:
        found.append(Caution(text="copies of events that were there twice left out", count=duplicates))
    return found


def _by_kind(counts: dict[Kind, int], what: str) -> list[Caution]:
    return [
        Caution(text=f"{kind.name.lower()} events {what}", count=count)
        for kind, count in sorted(counts.items())
        if count
    ]
