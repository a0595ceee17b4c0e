"""What makes the totals of a trace doubtful although every event of it can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..traces.events import CALLS, Caution, Trace, distinct
from .overlap import Overlap
from .steps import Steps
from .work import Work

_TOO_LONG_NS = 1_000_000_000  # a kernel that runs so long beside the next one of its stream has overflown (ROCm)
_TORN_NS = 3_600_000_000_000  # an hour without work, which no recording is left on for
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


def torn(times: Overlap, longest_gap_ns: int) -> list[Caution]:
    """Work that lies so far apart that it was not recorded at once."""
    if longest_gap_ns < _TORN_NS:
        return []
    text = (
        f"the work on device {times.device} has a gap of {longest_gap_ns / 1e9:.3g} s: some times are wrong, or these"
        " are several recordings; the share is of the span"
    )
    return [Caution(text=text, count=1, share=longest_gap_ns / times.span_ns)]


def strangers(traces: Sequence[Trace]) -> list[Caution]:
    """Files that cannot all be ranks of one job, each once."""
    sizes = sorted({trace.world_size for trace in traces if trace.world_size})
    found = []
    if len(sizes) > 1:
        text = (
            f"the files are of jobs of {' and '.join(map(str, sizes))} ranks: what is said across them is of no one job"
        )
        found.append(Caution(text=text))
    files = Counter(trace.rank for trace in traces if trace.rank is not None)
    twice = sorted(rank for rank, count in files.items() if count > 1)
    if twice:
        text = f"ranks that more than one file says it is, such as rank {twice[0]}: sums have each of these files"
        found.append(Caution(text=text, count=len(twice)))
    return found


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
