"""A part of a trace as Chrome trace events, which Perfetto and `synperf analyze` read: by time, rank and stream.

Findings and the longest gaps are tracks of their own. `ts` and `dur` are microseconds with three digits, from the begin
of the part, so that a double holds every nanosecond.
Source: "Trace Event Format", Google, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..analysis.gaps import CAUSES
from ..analysis.whole import Analysis
from ..light_classes import dataclass
from ..traces.events import GPU_KINDS, Column, Events, Kind, Trace, aligned, all_aligned

_CATEGORY = {
    Kind.KERNEL: "kernel",
    Kind.MEMCPY: "gpu_memcpy",
    Kind.MEMSET: "gpu_memset",
    Kind.SYNC: "cuda_sync",
    Kind.RUNTIME: "cuda_runtime",
    Kind.DRIVER: "cuda_driver",
    Kind.OPERATOR: "cpu_op",
    Kind.ANNOTATION: "user_annotation",
    Kind.GPU_ANNOTATION: "gpu_user_annotation",
    Kind.PYTHON: "python_function",
    Kind.OVERHEAD: "overhead",
}  # those that have a duration
_ANNOTATIONS = "synperf"  # category of what is no event of the trace
Naming = Callable[[str], str]
Event = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is kept: events that overlap the window, in nanoseconds from the first GPU event; ranks, streams, or all."""

    start_ns: int | None = None
    end_ns: int | None = None
    ranks: tuple[int, ...] = ()
    streams: tuple[int, ...] = ()

    def has_rank(self, rank: int | None) -> bool:
        return not self.ranks or rank in self.ranks


@dataclass(frozen=True, slots=True)
class _Window:
    """On the clock of the trace."""

    begin: int
    end: int

    def clipped(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        return max(start_ns, self.begin), min(end_ns, self.end)


def write(path: Path, traces: Sequence[Trace], found: Analysis, part: Part, naming: Naming) -> int:
    """Writes the events as JSON and returns how many of them are the trace's own."""
    kept = [trace for trace in traces if part.has_rank(trace.rank)]
    window = _window(traces, found, part)
    rows = [_rows(trace, window, part.streams) for trace in kept]
    count = sum(map(len, rows))
    begin = min((int(t.events.start_ns[r].min()) for t, r in zip(kept, rows, strict=True) if len(r)), default=0)
    tracks = _Tracks(begin)
    events = chain(
        *(_events(trace, of, tracks, naming) for trace, of in zip(kept, rows, strict=True)),
        _gaps(found, window, part, tracks, naming),
        _findings(found, window, part, tracks),
    )
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        file.write(encode(_about(kept, begin))[:-1] + b',"traceEvents":[')
        for place, event in enumerate(chain(events, tracks.named())):
            file.write((b",\n" if place else b"\n") + encode(event))
        file.write(b"\n]}\n")
    return count


def _about(kept: Sequence[Trace], begin: int) -> Event:
    """What stands beside the events."""
    about: Event = {"displayTimeUnit": "ns", "baseTimeNanoseconds": begin}
    if len(kept) == 1 and kept[0].rank is not None:
        about["distributedInfo"] = {"rank": kept[0].rank, "world_size": kept[0].world_size}
    return about


def _window(traces: Sequence[Trace], found: Analysis, part: Part) -> _Window:
    whole = [trace.events for trace in traces if len(trace.events)]
    first = min((int(events.start_ns[0]) for events in whole), default=0)
    last = max((int(events.end_ns(slice(None)).max()) for events in whole), default=0)
    zero = min((one.start_ns for one in found.overlaps), default=first)
    return _Window(
        begin=first if part.start_ns is None else zero + part.start_ns,
        end=last + 1 if part.end_ns is None else zero + part.end_ns,
    )


def _rows(trace: Trace, window: _Window, streams: Sequence[int]) -> Column:
    """The events that are kept; a choice of streams is one among GPU events."""
    events = trace.events
    rows = events.of(*_CATEGORY)
    inside = (events.start_ns[rows] < window.end) & (
        np.maximum(events.end_ns(rows), events.start_ns[rows] + 1) > window.begin
    )
    if streams:
        inside &= ~np.isin(events.kind[rows], GPU_KINDS) | np.isin(events.stream[rows], streams)
    kept: Column = rows[inside]
    return kept


class _Tracks:
    """Processes and threads of the file: their numbers, and the events that name them. Times are from `begin`."""

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[int, int], str] = {}

    def place(self, process: str, thread: int, name: str) -> Event:
        pid = self._processes.setdefault(process, len(self._processes))
        self._threads.setdefault((pid, thread), name)
        return {"pid": pid, "tid": thread}

    def lasting(self, start_ns: int, end_ns: int) -> Event:
        return {"ts": _us(start_ns - self.begin), "dur": _us(end_ns - start_ns)}

    def named(self) -> Iterator[Event]:
        for process, pid in self._processes.items():
            yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}}
            yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}
        for (pid, tid), name in self._threads.items():
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _us(value_ns: int) -> msgspec.Raw:
    """Microseconds as a decimal number."""
    sign, whole = "-" if value_ns < 0 else "", abs(value_ns)
    return msgspec.Raw(f"{sign}{whole // 1000}.{whole % 1000:03d}".encode())


def _events(trace: Trace, rows: Column, tracks: _Tracks, naming: Naming) -> Iterator[Event]:
    events = trace.events
    names = {name: naming(events.names[name]) for name in np.unique(events.name[rows]).tolist()}
    columns = ("kind", "name", "start_ns", "dur_ns", "process", "thread", "device", "stream", "correlation", "external")
    values = zip(*(getattr(events, column)[rows].tolist() for column in columns), strict=True)
    beside = _beside(trace.events, rows)
    for more, (kind, name, start, dur, process, thread, device, stream, correlation, external) in zip(
        beside, values, strict=True
    ):
        args = {key: value for key, value in (("correlation", correlation), ("External id", external)) if value >= 0}
        args |= more
        if kind in GPU_KINDS:
            args |= {"device": device, "stream": stream}
            place = tracks.place(f"{_of(trace.rank)}device {device}", stream, f"stream {stream}")
        else:
            place = tracks.place(f"{_of(trace.rank)}host process {process}", thread, f"thread {thread}")
        head = {"ph": "X", "cat": _CATEGORY[Kind(kind)], "name": names[name]}
        yield {**head, **place, **tracks.lasting(start, start + dur), "args": args}


def _beside(events: Events, rows: Column) -> Iterator[Event]:
    """Of each event the bytes that it moved, and how it was launched, as far as they are recorded."""
    moved = aligned(events.moved, "bytes", rows).tolist()
    columns = all_aligned(events.geometry, ("grid", "block", "registers", "occupancy"), rows)
    geometry = [column.tolist() for column in columns]
    for size, grid, block, registers, occupancy in zip(moved, *geometry, strict=True):
        said = {"bytes": size} if size >= 0 else {}
        said |= {"grid": grid, "block": block} if grid[0] >= 0 else {}
        said |= {"registers per thread": registers} if registers >= 0 else {}
        yield said | ({"est. achieved occupancy %": 100 * occupancy} if occupancy == occupancy else {})  # not NaN


def _of(rank: int | None) -> str:
    return "" if rank is None else f"rank {rank}, "


def _gaps(found: Analysis, window: _Window, part: Part, tracks: _Tracks, naming: Naming) -> Iterator[Event]:
    """The longest gaps of each device, by cause."""
    for one in sorted(found.gaps, key=lambda gap: gap.start_ns):
        start, end = window.clipped(one.start_ns, one.start_ns + one.dur_ns)
        if part.has_rank(one.rank) and start < end:
            place = tracks.place(f"{_of(one.rank)}device {one.device}", -1, "longest gaps")
            args = {"host in": naming(one.operator), "Python": naming(one.python), "because": CAUSES[one.cause]}
            head = {"ph": "X", "cat": _ANNOTATIONS, "name": f"idle: {one.cause}"}
            yield {**head, **place, **tracks.lasting(start, end), "args": args}


def _findings(found: Analysis, window: _Window, part: Part, tracks: _Tracks) -> Iterator[Event]:
    """Each finding over the ranges where it is seen, or over the window where it names none."""
    for number, one in enumerate(found.findings, 1):
        if not part.has_rank(one.rank):
            continue
        place = tracks.place("findings", number, f"{number}. {one.title}")
        args = {"evidence": one.evidence, "advice": one.advice, "saving_ns": one.saving_ns}
        done = window.begin
        for first, last in sorted(one.ranges) or [(window.begin, window.end)]:
            start, end = window.clipped(max(first, done), last)
            if start < end:
                done = end
                head = {"ph": "X", "cat": _ANNOTATIONS, "name": one.title}
                yield {**head, **place, **tracks.lasting(start, end), "args": args}
