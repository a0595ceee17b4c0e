"""How long the host waited for the DataLoader."""

from __future__ import annotations

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Kind, Trace
from .host_ranges import dataloader_rows
from .intervals import Intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLoader:
    """Of one rank: calls for the next batch, their sum, and its share of the host's recorded time."""

    rank: int | None
    count: int
    total_ns: int
    share: float


def dataloader(trace: Trace) -> DataLoader | None:
    """The waits of a rank; None where none are recorded, which is not to say that there were none."""
    events = trace.events
    rows = dataloader_rows(events)
    if not len(rows):
        return None
    total = int(events.dur_ns[rows].sum())
    timed = np.flatnonzero(events.kind != Kind.UNTIMED)
    span = int(events.end_ns(timed).max() - events.start_ns[timed].min())
    waited = Intervals.of(events, rows).total_ns
    return DataLoader(rank=trace.rank, count=len(rows), total_ns=total, share=waited / span if span else 0.0)
