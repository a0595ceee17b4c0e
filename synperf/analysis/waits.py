"""How long the host waited in calls that synchronise, and how much of that a device of its rank was working.

Such a call lasts until the work that was launched before is done. That part is GPU time, which no other call makes
shorter: without the call, the next one that needs a result waits in its place. The rest is what the call itself costs.
"""

from __future__ import annotations

from ..light_classes import dataclass
from ..traces.events import CALLS, GPU_WORK, Trace, distinct
from .host_ranges import SYNC
from .intervals import Intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """All calls of one name of a rank; `worked_ns` is when any of its devices was busy in them."""

    rank: int | None
    name: str
    count: int
    total_ns: int
    worked_ns: int


def waits(trace: Trace) -> tuple[Waits, ...]:
    """The calls of a rank by name, the longest sum first."""
    events = trace.events
    rows = events.of(*CALLS)
    rows = rows[events.named(rows, SYNC.search)]
    busy = Intervals.of(events, events.of(*GPU_WORK))
    worked = busy.covered(events.start_ns[rows], events.end_ns(rows))
    found = []
    for name in distinct(events.name[rows]).tolist():
        here = events.name[rows] == name
        found.append(
            Waits(
                rank=trace.rank, name=events.names[name], count=int(here.sum()),
                total_ns=int(events.dur_ns[rows[here]].sum()), worked_ns=int(worked[here].sum()),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: (-one.total_ns, one.name)))
