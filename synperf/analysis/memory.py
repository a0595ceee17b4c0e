"""Memory that the framework's allocator handed out: its peak, when that was, and the operators that hold it.

A block that is live at the peak belongs to the operator in which it was allocated: the innermost one that is no mere
allocation (`aten::empty`, `aten::clone`'s own `empty_like`, ...). What was allocated before the recording has none.
"""

from __future__ import annotations

import re

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, Trace
from .nested import Nested

HOST = 0  # a device type of PyTorch; others are devices
_LARGEST = 2**50  # bytes: a change beyond it is damage, and left out
_MOST = 20  # operators that are told
_SLICES = 240  # of the time: one is a point or two of a picture
_ALLOCATION = re.compile(r"^aten::(_?empty|new_|resize|zeros|ones|full|set_|detach)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """What blocks that one operator allocated hold at the peak."""

    operator: str
    blocks: int
    bytes: int
    share: float  # of the peak


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Of one device, or of the host.

    `peak_bytes` is what was handed out at most, at `peak_ns`; `is_absolute` says that the trace has totals, else it
    counts from the begin of the recording, where 0 is taken. `reserved_bytes` is what the allocator had taken from the
    device then, None where not recorded. `before_bytes` was handed out before the recording and is still held.
    `line_bytes` is the most of each slice of the time from `start_ns` to `end_ns`, all of one length.
    """

    rank: int | None
    device: int
    is_host: bool
    changes: int
    is_absolute: bool
    peak_bytes: int
    peak_ns: int
    reserved_bytes: int | None
    start_bytes: int
    end_bytes: int
    before_bytes: int | None
    holders: tuple[Holder, ...]
    start_ns: int
    end_ns: int
    line_bytes: tuple[int, ...]


def memory(trace: Trace, found: Nested) -> tuple[Memory, ...]:
    """Each device of a rank that has changes of memory, the host last."""
    side = trace.events.allocations
    if not len(side.event):
        return ()
    is_host, sane = side.device_type == HOST, np.abs(side.bytes) < _LARGEST
    places = sorted(
        {(bool(h), int(d)) for h, d in zip(is_host[sane].tolist(), side.device[sane].tolist(), strict=True)}
    )
    return tuple(
        _measured(trace, found, host, device, np.flatnonzero((is_host == host) & (side.device == device) & sane))
        for host, device in places
    )


def _measured(trace: Trace, found: Nested, is_host: bool, device: int, rows: Column) -> Memory:
    side, events = trace.events.allocations, trace.events
    changed, total = side.bytes[rows], side.allocated_bytes[rows]
    is_absolute = bool((total >= 0).all())
    live = total if is_absolute else np.cumsum(changed)
    peak, reserved = int(np.argmax(live)), side.reserved_bytes[rows]
    times = events.start_ns[side.event[rows]]
    held = _live(side.address[rows], changed, peak)
    holders = _holders(found, side.event[rows[held]], changed[held], int(live[peak])) if held is not None else ()
    return Memory(
        rank=trace.rank,
        device=device,
        is_host=is_host,
        changes=len(rows),
        is_absolute=is_absolute,
        peak_bytes=int(live[peak]),
        peak_ns=int(times[peak]),
        reserved_bytes=int(reserved[peak]) if reserved[peak] >= 0 else None,
        start_bytes=int(live[0] - changed[0]),
        end_bytes=int(live[-1]),
        before_bytes=int(live[peak] - changed[held].sum()) if held is not None and is_absolute else None,
        holders=holders,
        start_ns=int(times[0]),
        end_ns=int(times[-1]),
        line_bytes=_line(times, live),
    )


def _live(address: Column, changed: Column, peak: int) -> Column | None:
    """Places of the allocations that are live at the peak; None where addresses are not recorded."""
    if (address[: peak + 1] < 0).any():
        return None
    order = np.lexsort((np.arange(peak + 1), address[: peak + 1]))
    last = np.append(np.diff(address[order]) != 0, True)
    latest = np.sort(order[last])
    kept: Column = latest[changed[latest] > 0]
    return kept


def _holders(found: Nested, rows: Column, held: Column, peak_bytes: int) -> tuple[Holder, ...]:
    """Operators by what they hold, the most first."""
    sums: dict[str, tuple[int, int]] = {}
    for name, size in zip(_allocators(found, rows), held.tolist(), strict=True):
        blocks, before = sums.get(name, (0, 0))
        sums[name] = blocks + 1, before + size
    order = sorted(sums.items(), key=lambda one: (-one[1][1], one[0]))[:_MOST]
    return tuple(
        Holder(operator=name, blocks=blocks, bytes=size, share=size / peak_bytes if peak_bytes else 0.0)
        for name, (blocks, size) in order
    )


def _allocators(found: Nested, rows: Column) -> list[str]:
    """The operator of each allocation; empty where there is none."""
    events = found.events
    if not len(found.rows):
        return [""] * len(rows)
    mere = events.named(found.rows, _ALLOCATION.search)
    at = found.innermost(rows)
    while (rest := (at >= 0) & mere[at] & (found.above[at] >= 0)).any():
        at[rest] = found.above[at[rest]]
        at = found.operator(at)
    return [events.text(int(found.rows[place])) if place >= 0 else "" for place in at.tolist()]


def _line(times: Column, live: Column) -> tuple[int, ...]:
    """The most that is live in each slice; where nothing changes, what was live before."""
    edges = np.linspace(times[0], times[-1], _SLICES + 1)[:-1]
    first = np.searchsorted(times, edges, side="right") - 1  # what is live when a slice begins
    most = np.maximum.reduceat(live, np.maximum(first, 0))
    return tuple(most.tolist())
