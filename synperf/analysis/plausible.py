"""What makes the totals of a trace doubtful although every event of it can be read."""

from __future__ import annotations

import numpy as np

from ..traces.events import CALLS, Caution, Trace, distinct
from .steps import Steps
from .work import Work

_TOO_LONG_NS = 1_000_000_000  # a kernel that runs so long beside the next one of its stream has overflown (ROCm)
_MANY = 2  # 1 in so many steps without work is too many


def overlong(work: Work) -> list[Caution]:
    """Events that run on past the start of their stream's next one, by seconds."""
    events, count, excess = work.events, 0, 0
    for stream in distinct(events.stream[work.rows]).tolist():
        rows = work.rows[events.stream[work.rows] == stream]
        over = events.end_ns(rows)[:-1] - events.start_ns[rows][1:]
        count += int((over > _TOO_LONG_NS).sum())
        excess += int(over[over > _TOO_LONG_NS].sum())
    if not count:
        return []
    whole = int(events.dur_ns[work.rows].sum())
    text = (
        f"GPU events on device {work.device} run {excess / 1e9:.3g} s past the start of their stream's next one: their"
        " durations have overflown, and totals with them; the share is of the GPU time"
    )
    return [Caution(text=text, count=count, share=excess / whole)]


def empty_steps(found: Steps | None) -> list[Caution]:
    """Steps in which no device did anything, where they are many."""
    if found is None:
        return []
    empty = sum(step.busy_ns == 0 for step in found.steps)
    if empty * _MANY < len(found.steps) or empty == len(found.steps):
        return []
    return [Caution(text="steps have no GPU work: it was not recorded", count=empty, share=empty / len(found.steps))]


def merged(trace: Trace) -> list[Caution]:
    """Calls that share their correlation with another one: then it does not say what they launched."""
    events = trace.events
    calls = events.of(*CALLS)
    correlation = events.correlation[calls]
    _, count = np.unique(correlation[correlation > 0], return_counts=True)
    if not (count > 1).any():
        return []
    text = "calls share their correlation id: ranks were merged into one file, and what they launched is not sure"
    return [Caution(text=text, count=int(count[count > 1].sum()))]
