"""What the host spends in each operator, annotation and call itself: its time less that of what it calls."""

from __future__ import annotations

import re

import numpy as np

from ..traces.events import CALLS, Column, Events, Kind
from .host_ranges import DATALOADER

LOADER = "DataLoader"
_DIGITS = re.compile(r"\d+")


def own_times(events: Events) -> tuple[Column, Column]:
    """Rows of operators, annotations and calls, by thread, and of each the nanoseconds that none below it has."""
    rows = events.of(Kind.OPERATOR, Kind.ANNOTATION, *CALLS)
    order = np.lexsort((np.arange(len(rows)), events.thread[rows], events.process[rows]))
    rows = rows[order]
    process, thread = events.process[rows], events.thread[rows]
    changes = np.flatnonzero((np.diff(process) != 0) | (np.diff(thread) != 0)) + 1
    own = [_own(events.start_ns[part].tolist(), events.end_ns(part).tolist()) for part in np.split(rows, changes)]
    return rows, np.array([one for part in own for one in part], dtype=np.int64)


def _own(start: list[int], end: list[int]) -> list[int]:
    """Of the ranges of one thread, in order of start, the longer first."""
    own = [last - first for first, last in zip(start, end, strict=True)]
    above: list[int] = []
    for place, (first, last) in enumerate(zip(start, end, strict=True)):
        while above and end[above[-1]] <= first:
            above.pop()
        if above:
            own[above[-1]] -= min(last, end[above[-1]]) - first
        above.append(place)
    return own


def label(name: str) -> str:
    """The name under which ranges of all steps, and of all kinds of DataLoader, are one: `ProfilerStep#N`."""
    return LOADER if DATALOADER.search(name) else _DIGITS.sub("N", name) if "#" in name or " " in name else name
