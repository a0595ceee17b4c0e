"""What one run of a job does in each step: how long it is, where the time goes, kernels by family, operators.

A step is cut into what the device does with it, which adds up to the step exactly: computing, exposed copies, exposed
communication, and idle time by cause. A kernel belongs to the step in which the host launched it, an operator to the
step in which it starts. With several devices or ranks, all of it is the mean over them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import FieldError
from ..light_classes import dataclass
from ..traces.events import Column, Trace
from .classify import family
from .dataloader import DataLoader, dataloader
from .gaps import UNKNOWN, by_cause
from .launched import launches
from .own_time import label, own_times
from .steps import inner, steps
from .timeline import covered
from .work import Work, devices

COMPUTE, COPY, COMMUNICATION = "compute", "exposed copy", "exposed communication"
IDLE = "idle: "  # before the cause
Sums = Mapping[str, Column]  # nanoseconds of each step, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class PerStep:
    """One run. Steps that the profiler's window may have cut are left out where enough others remain."""

    found_by: str
    names: tuple[str, ...]
    left_out: int
    dur_ns: Column
    parts: Sums
    families: Sums
    operators: Sums
    dataloader: DataLoader | None

    def of(self, names: Sequence[str]) -> PerStep:
        """The steps of these names, in that order."""
        places = [self.names.index(name) for name in names]

        def taken(sums: Sums) -> Sums:
            return {name: column[places] for name, column in sums.items()}

        return replace(
            self, names=tuple(names), left_out=self.left_out + len(self.names) - len(names), dur_ns=self.dur_ns[places],
            parts=taken(self.parts), families=taken(self.families), operators=taken(self.operators),
        )  # fmt: skip


def per_step(traces: Sequence[Trace]) -> PerStep | None:
    """The steps of a run, the mean over its ranks; None where one of them has no steps.

    Raises:
        FieldError: the ranks have no steps of the same names.
    """
    ranks = [_of_rank(trace) for trace in traces]
    known = [one for one in ranks if one is not None]
    if len(known) < len(ranks) or not known:
        return None
    shared = [name for name in known[0].names if all(name in one.names for one in known[1:])]
    if not shared:
        raise FieldError("steps: the ranks have none of the same names; right would be one rank of each run")
    return known[0] if len(known) == 1 else _mean([one.of(shared) for one in known])


def _mean(ranks: Sequence[PerStep]) -> PerStep:
    """The mean over ranks of the same steps."""
    nothing = np.zeros(len(ranks[0].names), dtype=np.int64)

    def mean(tables: Sequence[Sums]) -> Sums:
        names = dict.fromkeys(name for sums in tables for name in sums)
        return {name: np.mean([sums.get(name, nothing) for sums in tables], axis=0) for name in names}

    return replace(
        ranks[0], dur_ns=np.mean([one.dur_ns for one in ranks], axis=0), parts=mean([one.parts for one in ranks]),
        families=mean([one.families for one in ranks]), operators=mean([one.operators for one in ranks]),
    )  # fmt: skip


def _of_rank(trace: Trace) -> PerStep | None:
    found = steps(trace)
    if found is None:
        return None
    used = inner(found.steps)
    start = np.array([step.start_ns for step in used])
    windows = _Windows(start, start + np.array([step.dur_ns for step in used]))
    works = list(devices(trace))
    return PerStep(
        found_by=found.found_by,
        names=_distinct([step.name for step in used]),
        left_out=len(found.steps) - len(used),
        dur_ns=windows.end - windows.start,
        parts=_parts(works, windows),
        families=_families(works, windows),
        operators=_operators(trace, windows),
        dataloader=dataloader(trace),
    )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of steps; one that comes again is numbered."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Windows:
    """Steps in order, apart from one another."""

    start: Column
    end: Column

    def sums(
        self, labels: Sequence[str], of: Column, at_ns: Column, dur_ns: Column, over: int = 1
    ) -> dict[str, Column]:
        """By label (`of` are places in `labels`), what lasts `dur_ns` and is at `at_ns`, in each step; no zeros."""
        place = np.searchsorted(self.start, at_ns, side="right") - 1
        inside = (place >= 0) & (at_ns < self.end[place])
        kinds = {name: number for number, name in enumerate(dict.fromkeys(labels))}
        kind = np.array([kinds[name] for name in labels], dtype=np.int64)[of[inside]]
        cells = kind * len(self.start) + place[inside]
        whole = np.zeros(len(kinds) * len(self.start), dtype=np.int64)
        np.add.at(whole, cells, dur_ns[inside])
        rows = whole.reshape(len(kinds), len(self.start)) / over
        return {name: rows[number] for name, number in kinds.items() if rows[number].any()}


def _parts(works: Sequence[Work], windows: _Windows) -> dict[str, Column]:
    made = [_parts_of(work, windows) for work in works]
    return {name: np.mean([one[name] for one in made], axis=0) for name in made[0]} if made else {}


def _parts_of(work: Work, windows: _Windows) -> dict[str, Column]:
    """What a device does with each step; before its first event and after its last one nothing says why it is idle."""
    busy = covered(work, windows.start, windows.end)
    idle = {name: gaps.covered(windows.start, windows.end) for name, gaps in by_cause(work).items()}
    rest = windows.end - windows.start - busy.busy - sum(idle.values())
    idle[UNKNOWN] = idle[UNKNOWN] + rest
    named = {f"{IDLE}{cause}": column for cause, column in idle.items()}
    return {COMPUTE: busy.compute, COPY: busy.exposed_copy, COMMUNICATION: busy.exposed_comm, **named}


def _families(works: Sequence[Work], windows: _Windows) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for work in works:
        events, rows = work.events, work.kernels
        call = launches(events, rows)
        at = np.where(call >= 0, events.start_ns[call], events.start_ns[rows])
        names, of = np.unique(events.name[rows], return_inverse=True)
        labels = [family(events.names[name]) for name in names.tolist()]
        for name, column in windows.sums(labels, of, at, events.dur_ns[rows], over=len(works)).items():
            found[name] = found.get(name, 0) + column
    return found


def _operators(trace: Trace, windows: _Windows) -> dict[str, Column]:
    events = trace.events
    rows, own = own_times(events)
    names, of = np.unique(events.name[rows], return_inverse=True)
    labels = [label(events.names[name]) for name in names.tolist()]
    return windows.sums(labels, of, events.start_ns[rows], own)
