"""When a device was idle, why, and what the host was doing: the times of all causes add up to the idle time exactly.

A gap lies between the intervals in which a device is busy, over all its streams. The call that launched the event which
ends it tells whether the host was late: then what the host did from the begin of the gap until that call is the cause.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..light_classes import dataclass
from ..traces.events import GPU_WORK, Column, Events
from .host_ranges import COPY, SYNC, Doing, anything, calls, dataloader_rows
from .intervals import Intervals
from .launched import interval_ns, launches
from .work import Work

QUEUED = "queued"
DATALOADER = "dataloader"
SYNCHRONISED = "sync"
COPYING = "copy"
LAUNCH_BOUND = "launch bound"
HOST = "host"
UNKNOWN = "unknown"
CAUSES = {
    DATALOADER: "the host waited for the DataLoader",
    SYNCHRONISED: "the host waited for the device, which ran dry, and only then went on",
    COPYING: "the host was in a copy or memset call",
    LAUNCH_BOUND: "the host launched one small kernel after the other, each later than the last one ended",
    HOST: "the host did something else and launched late",
    QUEUED: "the work was launched in time; the device, a dependency or another stream kept it waiting",
    UNKNOWN: "nothing in the trace says why",
}
_LAUNCHES = 3  # median times from one launch to the next: a longer gap is not the launching of one kernel
_HALF = 2  # what covers this part of the host's delay is its cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One idle stretch of a device, between two events, and what the host was in at the middle of its delay."""

    rank: int | None
    device: int
    start_ns: int
    dur_ns: int
    cause: str
    after: str
    before: str
    operator: str
    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """All gaps of one device with one cause."""

    rank: int | None
    device: int
    cause: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The idle time of one device: by cause, the longest gaps, and when it was for each cause."""

    idle: tuple[Idle, ...]
    longest: tuple[Gap, ...]
    apart: Mapping[str, Intervals]


@dataclass(frozen=True, slots=True)
class _Found:
    """Gaps as columns. `late_ns` is when the host's delay ends: at the call that launched what ends the gap."""

    start_ns: Column
    end_ns: Column
    late_ns: Column
    launch: Column  # row of that call, or -1
    ended_by: Column  # row


def gaps(work: Work, longest: int) -> Gaps:
    """The causes of all gaps of a device, and that many of the longest ones."""
    found = _found(work)
    cause = _causes(work.events, found)
    dur = found.end_ns - found.start_ns
    idle = [
        Idle(
            rank=work.trace.rank, device=work.device, cause=name, count=int((cause == name).sum()),
            total_ns=int(dur[cause == name].sum()),
        )
        for name in CAUSES
        if (cause == name).any()
    ]  # fmt: skip
    order = np.lexsort((found.start_ns, -dur))[:longest]
    doing, ends = Doing(work.events), work.events.end_ns(work.rows)
    shown = tuple(_gap(work, ends, found, cause, doing, place) for place in order.tolist())
    return Gaps(idle=tuple(sorted(idle, key=lambda one: -one.total_ns)), longest=shown, apart=_apart(found, cause))


def by_cause(work: Work) -> dict[str, Intervals]:
    """All gaps of a device, apart by cause."""
    found = _found(work)
    return _apart(found, _causes(work.events, found))


def _apart(found: _Found, cause: Column) -> dict[str, Intervals]:
    return {name: Intervals(found.start_ns[cause == name], found.end_ns[cause == name]) for name in CAUSES}


def _found(work: Work) -> _Found:
    events = work.events
    between = Intervals.of(events, work.rows).gaps()
    ended_by = work.rows[np.searchsorted(events.start_ns[work.rows], between.end)]
    launch = launches(events, ended_by)
    launched = np.where(launch >= 0, events.start_ns[launch], between.end)
    return _Found(between.start, between.end, np.clip(launched, between.start, between.end), launch, ended_by)


def _causes(events: Events, found: _Found) -> Column:
    """The cause of each gap: the first of the list that holds."""
    delay = found.late_ns - found.start_ns
    sync = calls(events, SYNC)
    waited = Intervals.of(events, dataloader_rows(events))

    def covers(ranges: Intervals) -> Column:
        return _HALF * ranges.covered(found.start_ns, found.late_ns) >= delay

    ran_dry = sync.covered(found.start_ns - 1, found.start_ns + 1) > 0
    waits_all_along = sync.covered(found.start_ns, found.end_ns) == found.end_ns - found.start_ns
    host_did = anything(events).covered(found.start_ns, found.late_ns) > 0
    known = found.launch >= 0
    per_launch = interval_ns(events, launches(events, events.of(*GPU_WORK))) or 0
    return np.select(
        [
            (delay == 0) | (~known & waits_all_along),  # a host that waits all along has launched before
            covers(waited),
            ~known | ~host_did,
            covers(sync) | ran_dry,
            covers(calls(events, COPY)),
            found.end_ns - found.start_ns <= _LAUNCHES * per_launch,
        ],
        [QUEUED, DATALOADER, UNKNOWN, SYNCHRONISED, COPYING, LAUNCH_BOUND],
        HOST,
    )


def _gap(work: Work, ends: Column, found: _Found, cause: Column, doing: Doing, place: int) -> Gap:
    events = work.events
    start, end, late = int(found.start_ns[place]), int(found.end_ns[place]), int(found.late_ns[place])
    launch = int(found.launch[place])
    thread = int(events.thread[launch]) if launch >= 0 else None
    middle = (start + max(late, start + 1)) // 2
    before = work.rows[ends == start]
    return Gap(
        rank=work.trace.rank,
        device=work.device,
        start_ns=start,
        dur_ns=end - start,
        cause=str(cause[place]),
        after=events.text(int(before[0])),
        before=events.text(int(found.ended_by[place])),
        operator=doing.operator(middle, thread),
        python=doing.python(middle, thread),
    )
