"""The steps of a rank: how long each is, how much they spread, which are slow, and what the devices did in them.

Steps are, the first that there are: `ProfilerStep#N`; marks of a serving engine; ranges that are named like steps
(NVTX); the time from one optimizer step to the next; the time from one run to the next of the kernels that come once a
step. The first and the last may be cut by the window of the profiler: medians leave them out where enough remain.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, Events, Kind, Trace, distinct
from .intervals import Intervals
from .work import Work, devices

_MARKS = (
    ("ProfilerStep", re.compile(r"^ProfilerStep#\d+")),
    (
        "serving step",
        re.compile(r"^(execute_\w*(context|generation)|execute_model|step\[|gpu_model_runner: forward)", re.I),
    ),
    (
        "named range",
        re.compile(r"^\W*(train|eval|val|inference)?[ _-]*(step|iter|iteration|batch)[ _#:=-]*\d+\W*$", re.I),
    ),
)
_OPTIMIZER = re.compile(r"^Optimizer\.step#")
_ENOUGH = 3  # steps from which a median is taken, and repetitions that make a pattern
_EVEN = 0.05  # relative spread of the distances of kernels that come once a step
_ROUNDED_NS = 1000  # starts and durations in whole µs: a step may seem to begin before the last one ends
_SLOW_MADS = 3.0  # robust standard deviations above the median: 1 in 700 if they were normal
_MAD_TO_DEVIATION = 1.4826  # of a normal distribution
_SLOW_SHARE = 0.05  # and at least that much above the median


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step on the host's clock; `busy_ns` is what the rank's devices were busy in it, the mean over them."""

    rank: int | None
    name: str
    start_ns: int
    dur_ns: int
    busy_ns: int
    compute_ns: int
    may_be_cut: bool
    is_slow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of one rank, and how they were found. `spread` is the median distance from the median, over it."""

    rank: int | None
    found_by: str
    steps: tuple[Step, ...]
    median_ns: int
    spread: float


def steps(trace: Trace) -> Steps | None:
    """The steps of a rank, or None where there are none to be seen."""
    for found_by, find in _finders():
        names, start, end = find(trace.events)
        if len(start):
            return _measured(trace, found_by, names, start, end)
    return None


Listed = TypeVar("Listed", tuple[Step, ...], Column)
Found = tuple[list[str], Column, Column]
_NONE: Found = ([], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def _finders() -> list[tuple[str, Callable[[Events], Found]]]:
    marks = [(name, _by_mark(pattern)) for name, pattern in _MARKS]
    return [*marks, ("optimizer step", _by_optimizer), ("repeated kernels", _by_repetition)]


def _by_mark(pattern: re.Pattern[str]) -> Callable[[Events], Found]:
    """Ranges on the host; those within another are left out."""

    def find(events: Events) -> Found:
        rows = events.of(Kind.ANNOTATION, Kind.OPERATOR)
        rows = rows[events.named(rows, pattern.search)]
        if not len(rows):
            return _NONE
        start, end = events.start_ns[rows], events.end_ns(rows)
        before = np.maximum.accumulate(end)[:-1]
        rows = rows[np.concatenate(([True], (start[1:] >= before - _ROUNDED_NS) & (end[1:] > before)))]
        return [events.text(row) for row in rows.tolist()], events.start_ns[rows], events.end_ns(rows)

    return find


def _by_optimizer(events: Events) -> Found:
    rows = events.of(Kind.ANNOTATION, Kind.OPERATOR)
    ends = np.sort(events.end_ns(rows[events.named(rows, _OPTIMIZER.search)]))
    return [f"step {place}" for place in range(len(ends) - 1)], ends[:-1], ends[1:]


def _by_repetition(events: Events) -> Found:
    """From one start to the next of the kernel that runs least often, at even distances, and first."""
    rows = events.of(Kind.KERNEL)
    names, count = np.unique(events.name[rows], return_counts=True)
    for times in distinct(count[count >= _ENOUGH]).tolist():
        candidates = names[count == times]
        places = [np.flatnonzero(events.name[rows] == name) for name in candidates.tolist()]
        even = [place for place in places if _is_even(np.diff(place))]
        if even:
            start = events.start_ns[rows[min(even, key=lambda place: int(place[0]))]]
            return [f"step {number}" for number in range(len(start) - 1)], start[:-1], start[1:]
    return _NONE


def _is_even(distances: Column) -> bool:
    return bool(distances.mean() > 1 and distances.std() <= _EVEN * distances.mean())


def inner(found: Listed) -> Listed:
    """Without the first and the last, which may be cut, where enough others remain."""
    return found[1:-1] if len(found) - 2 >= _ENOUGH else found


def _measured(trace: Trace, found_by: str, names: list[str], start: Column, end: Column) -> Steps:
    dur = end - start
    whole = inner(dur)
    median = int(np.median(whole))
    spread = float(np.median(np.abs(whole - median)))
    slow = dur > median + max(_SLOW_MADS * _MAD_TO_DEVIATION * spread, _SLOW_SHARE * median)
    slow &= len(dur) >= _ENOUGH
    works = list(devices(trace))
    busy, compute = _within(works, start, end, "rows"), _within(works, start, end, "compute")
    made = tuple(
        Step(
            rank=trace.rank, name=name, start_ns=int(start[place]), dur_ns=int(dur[place]), busy_ns=int(busy[place]),
            compute_ns=int(compute[place]), may_be_cut=place in (0, len(names) - 1), is_slow=bool(slow[place]),
        )
        for place, name in enumerate(names)
    )  # fmt: skip
    return Steps(
        rank=trace.rank, found_by=found_by, steps=made, median_ns=median, spread=spread / median if median else 0.0
    )


def _within(works: list[Work], start: Column, end: Column, rows: str) -> Column:
    """What the work covers of each step, the mean over devices."""
    covered = [Intervals.of(work.events, getattr(work, rows)).covered(start, end) for work in works]
    return np.mean(covered, axis=0).astype(np.int64) if covered else np.zeros(len(start), dtype=np.int64)
