"""Nsight Systems exports to SQLite, of schemas 2.x and 3.x: a trace for each process that has GPU work.

Times are whole ns from the begin of the session, whose time of day newer exports say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..errors import FileFormatError
from . import nsys_gpu, nsys_host
from .building import Builder
from .events import GPU_WORK, Caution, Device, Events, Trace
from .nsys_rows import LOW_BITS, Rows
from .nsys_tables import ABSENT, MAGIC, Tables, missing_share
from .sources import Progress, named

FORMAT = "nsys"
_STEPS: tuple[Callable[[Rows], None], ...] = (
    nsys_gpu.kernels, nsys_gpu.copies, nsys_gpu.memsets, nsys_gpu.waits, nsys_gpu.graphs,
    nsys_host.calls, nsys_host.overheads, nsys_host.nvtx,
)  # fmt: skip
_MARKS = ("StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE")
_METADATA = ("META_DATA_EXPORT", "EXPORT_META_DATA")  # since 3.x, and before
_NEWEST = 3  # schema that is known
_GPU = ("id", "cuDevice", "smCount", "totalMemory", "threadsPerWarp", "computeMajor", "computeMinor")


def recognises(head: bytes, path: Path) -> bool:
    """Whether the file is such a database."""
    if not head.startswith(MAGIC):
        return False
    try:
        with Tables(path) as tables:
            return any(mark in tables for mark in _MARKS)
    except sqlite3.Error:
        return False


def read(path: Path, progress: Progress | None = None) -> list[Trace]:
    """One trace for each process that has GPU work; where none has, one for each process with anything.

    Raises:
        FileFormatError: none of its tables holds events.
    """
    with Tables(path) as tables:
        rows = Rows(tables)
        for done, step in enumerate(_STEPS):
            step(rows)
            if progress is not None:
                progress(path.name, done + 1, len(_STEPS))
        return _traces(path, rows)


def _traces(path: Path, rows: Rows) -> list[Trace]:
    tables, host = rows.tables, _host(rows.tables)
    base_ns = next((max(0, int(n[0, 0])) for n, _ in tables.rows("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))), 0)
    devices = tuple(_devices(tables))
    cautions = (*_damage(path, tables), *_left_out(rows, host))
    built = {process: _built(builder, base_ns) for process, builder in sorted(rows.builders.items()) if len(builder)}
    working = {process: one for process, one in built.items() if len(one[0].of(*GPU_WORK))}
    if not built:
        why = "whose tables are damaged" if tables.damaged else "without kernels, copies, calls and ranges"
        raise FileFormatError(f"{path.name}: no events can be read: it is an export of Nsight Systems {why}")
    idle = tuple(_idle_processes(built, working))
    alone = len(working or built) == 1
    return [
        Trace(
            source=named(path) if alone else f"{path.name}, process {process & LOW_BITS}", format=FORMAT, events=events,
            devices=devices, host=host,
            cautions=(*cautions, *idle, *_duplicates(duplicates)),
        )
        for process, (events, duplicates) in (working or built).items()
    ]  # fmt: skip


def _built(builder: Builder, base_ns: int) -> tuple[Events, int]:
    events = builder.events(base_ns)
    return events, builder.duplicates


def _host(tables: Tables) -> Mapping[str, str]:
    found = [tables.pairs(table, "name", "value") for table in _METADATA]
    wanted = {"nsys": "EXPORT_PRODUCT_VERSION", "schema": "EXPORT_SCHEMA_VERSION"}
    return {key: one[name] for one in found for key, name in wanted.items() if name in one}


def _devices(tables: Tables) -> Iterator[Device]:
    names = tables.pairs("TARGET_INFO_GPU", "id", "name")
    for numbers, _ in tables.rows("TARGET_INFO_GPU", _GPU):
        for gpu, cuda, sms, memory, warp, major, minor in numbers.tolist():
            yield Device(
                number=cuda if cuda != ABSENT else gpu, name=names.get(gpu, ""), num_sms=_some(sms),
                dram_bytes=_some(memory), warp_size=_some(warp),
                compute_capability=(major, minor) if major > 0 else None,
            )  # fmt: skip


def _some(number: int) -> int | None:
    return number if number > 0 else None


def _damage(path: Path, tables: Tables) -> Iterator[Caution]:
    share = missing_share(path)
    if share > 0:
        yield Caution(text="the file ends early; the share is what is missing of it", share=share)
    if tables.damaged:
        shown = ", ".join(dict.fromkeys(tables.damaged))
        yield Caution(text=f"tables are damaged, their rows are read in part: {shown}", share=share or None)


def _left_out(rows: Rows, host: Mapping[str, str]) -> Iterator[Caution]:
    major = host.get("schema", "").partition(".")[0]
    if major.isdigit() and int(major) > _NEWEST:
        yield Caution(text=f"the schema {host['schema']} is newer than those that are known: tables may be missed")
    for what, count in sorted(rows.left_out.items()):
        yield Caution(text=f"{what} left out", count=count)
    if nsys_gpu.GRAPHS in rows.tables:
        yield Caution(text="graphs were recorded as a whole: the kernels in them are not known")


def _idle_processes(built: Mapping[int, tuple[Events, int]], working: Mapping[int, object]) -> Iterator[Caution]:
    idle = [len(events) for process, (events, _) in built.items() if process not in working]
    if working and idle:
        yield Caution(text="host events of processes without GPU work left out", count=sum(idle))


def _duplicates(count: int) -> Iterator[Caution]:
    if count:
        yield Caution(text="copies of GPU events that were there twice left out", count=count)
