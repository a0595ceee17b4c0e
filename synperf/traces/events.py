"""The event table: what every reader of traces yields, and every analysis reads.

Events are columns of numbers; names are ids into one table of texts. Times are whole nanoseconds, `start_ns` since 1970
where the trace says so, else since the trace's own zero. What only some events have is in side tables, whose `event` is
the row of the event. Rows are in order of start, at the same start the longer one first, so that parents come before
children. A number that an event does not have is -1, a share NaN, a text the empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..light_classes import dataclass

Column = NDArray[Any]


class Kind(IntEnum):
    """What an event is."""

    OTHER = 0
    KERNEL = 1
    MEMCPY = 2
    MEMSET = 3
    SYNC = 4  # a wait that a profiler draws on the device: no work
    RUNTIME = 5  # a call of the runtime (CUDA, HIP) by the host
    DRIVER = 6  # a call of the driver by the host
    OPERATOR = 7  # of the framework, on the host
    ANNOTATION = 8  # a range that a program named, on the host: steps, NVTX
    GPU_ANNOTATION = 9  # its shadow on the device
    PYTHON = 10  # a frame of Python's stack
    OVERHEAD = 11  # of the profiler
    MEMORY = 12  # an allocation or a release; without duration
    COUNTERS = 13  # hardware counters of a kernel that ran alone: no time
    MARK = 14  # without duration
    SPAN = 15  # the session of the profiler
    UNTIMED = 16  # GPU work that the profiler gave no time: only its launch geometry says something


GPU_WORK = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
GPU_KINDS = (*GPU_WORK, Kind.SYNC, Kind.GPU_ANNOTATION, Kind.COUNTERS, Kind.UNTIMED)  # that have a device and a stream
CALLS = (Kind.RUNTIME, Kind.DRIVER)


def column(dtype: Any, missing: Any = -1, width: int = 0, text: bool = False) -> Any:
    """A column: what holds a value, what says that there is none, how many numbers a row has if several, and whether
    they are places in `Events.names`.
    """
    return field(metadata={"dtype": dtype, "missing": missing, "width": width, "text": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Launch geometry of kernels, as recorded."""

    event: Column = column(np.int64)
    grid: Column = column(np.int64, width=3)  # blocks in x, y, z
    block: Column = column(np.int64, width=3)  # threads in x, y, z
    registers: Column = column(np.int32)  # per thread
    shared_bytes: Column = column(np.int64)  # per block, static and dynamic
    occupancy: Column = column(np.float32, np.nan)  # 0..1; an estimate from the launch, as the trace prints it


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Bytes that a copy or memset moved."""

    event: Column = column(np.int64)
    bytes: Column = column(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Arguments of operators: ids of texts in `Events.names`, each a JSON list as recorded."""

    event: Column = column(np.int64)
    dims: Column = column(np.int32, text=True)
    types: Column = column(np.int32, text=True)
    strides: Column = column(np.int32, text=True)
    values: Column = column(np.int32, text=True)  # of scalars


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """What a collective moved, on its kernel or on the operator that recorded it; texts are ids in `Events.names`."""

    event: Column = column(np.int64)
    collective: Column = column(np.int32, text=True)  # its name: allreduce, all_to_allv
    dtype: Column = column(np.int32, text=True)
    in_elements: Column = column(np.int64)
    out_elements: Column = column(np.int64)
    group_size: Column = column(np.int32)
    group: Column = column(np.int32, text=True)  # name of the process group
    ranks: Column = column(np.int32, text=True)  # of the process group, a JSON list


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocations:
    """Changes of memory."""

    event: Column = column(np.int64)
    bytes: Column = column(np.int64, 0)  # signed: below 0 is a release
    address: Column = column(np.int64)
    device_type: Column = column(np.int16)  # 0 host, 1 CUDA, 6 HIP
    device: Column = column(np.int32)
    allocated_bytes: Column = column(np.int64)  # in all, after it
    reserved_bytes: Column = column(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """Frames of Python's stack."""

    event: Column = column(np.int64)
    frame: Column = column(np.int64)
    parent: Column = column(np.int64)


SIDES: dict[str, type] = {
    "geometry": Geometry,
    "moved": Moved,
    "arguments": Arguments,
    "messages": Messages,
    "allocations": Allocations,
    "frames": Frames,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The table. Of host events `process` and `thread` say where, of GPU events `device` and `stream`."""

    names: tuple[str, ...] = field(repr=False)
    kind: Column = column(np.uint8, Kind.OTHER)
    name: Column = column(np.int32, text=True)  # a place in `names`
    start_ns: Column = column(np.int64)
    dur_ns: Column = column(np.int64, 0)
    process: Column = column(np.int64)
    thread: Column = column(np.int64)
    device: Column = column(np.int32)
    stream: Column = column(np.int64)
    correlation: Column = column(np.int64)  # of a launch and what it launched
    external: Column = column(np.int64)  # of an operator and the calls under it
    geometry: Geometry
    moved: Moved
    arguments: Arguments
    messages: Messages
    allocations: Allocations
    frames: Frames

    def __len__(self) -> int:
        return len(self.start_ns)

    def of(self, *kinds: Kind) -> Column:
        """Rows of these kinds, in order of start."""
        wanted = np.zeros(len(self), dtype=bool)
        for kind in kinds:  # compared faster than looked up
            wanted |= self.kind == kind
        return np.flatnonzero(wanted)

    def end_ns(self, rows: Column | slice) -> Column:
        ends: Column = self.start_ns[rows] + self.dur_ns[rows]
        return ends

    def text(self, row: int) -> str:
        """The name of the event in that row."""
        return self.names[int(self.name[row])]

    def named(self, rows: Column, wanted: Any) -> Column:
        """Whether each of these events has a name for which `wanted` is true; it is asked once for each name."""
        names = self.name[rows]
        is_wanted = np.zeros(len(self.names), dtype=bool)
        for name in np.flatnonzero(np.bincount(names)).tolist():
            is_wanted[name] = bool(wanted(self.names[name]))
        found: Column = is_wanted[names]
        return found


def distinct(values: Column) -> Column:
    """The different values, in order."""
    return np.unique(values, return_counts=True)[0]  # alone it imports numpy.ma, which takes longer than many a trace


def stable(numbers: Column) -> Column:
    """The order of whole numbers, of the same ones as they come; those from 0 to 2**16 in a sixth of the time."""
    is_short = len(numbers) and numbers.min() >= 0 and numbers.max() < 2**16
    order: Column = np.argsort(numbers.astype(np.uint16) if is_short else numbers, kind="stable")  # by radix
    return order


def among(values: Column, known: Any) -> Column:
    """Whether each value is a known one; where many are known, `np.isin` imports numpy.ma too."""
    known = np.sort(known)
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    found: Column = known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values
    return found


def at(side: Any, rows: Column) -> Column:
    """The place in a side table of each of these events, -1 where it has none."""
    if not len(side.event):
        return np.full(len(rows), -1)
    place = np.minimum(np.searchsorted(side.event, rows), len(side.event) - 1)
    return np.where(side.event[place] == rows, place, -1)


def aligned(side: Any, name: str, rows: Column) -> Column:
    """A column of a side table for each of these events; what says "none" where an event is not in it."""
    return all_aligned(side, (name,), rows)[0]


def all_aligned(side: Any, names: Iterable[str], rows: Column) -> list[Column]:
    """The same for several columns."""
    place = at(side, rows)
    has = place >= 0
    missing = {f.name: f.metadata["missing"] for f in fields(side) if "missing" in f.metadata}
    found = []
    for column, none in ((getattr(side, name), missing[name]) for name in names):
        result = np.full((len(rows), *column.shape[1:]), none, dtype=column.dtype)
        result[has] = column[place[has]]
        found.append(result)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU as the trace describes it. `number` is the one that its list has, which events need not use (ROCm)."""

    number: int
    name: str
    num_sms: int | None = None
    dram_bytes: int | None = None
    warp_size: int | None = None
    compute_capability: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """What a reader or an analysis left out, mended or could not see; `share` is of what the text says, if known."""

    text: str
    count: int | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The events of one rank (one process, or one file where ranks are not known).

    `host` holds only what may be shown to anyone: versions and settings of the profiler, no names, paths or variables.
    `groups` are the ranks of each process group by its name.
    """

    source: str
    format: str
    events: Events
    rank: int | None = None
    world_size: int | None = None
    devices: tuple[Device, ...] = ()
    host: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()
