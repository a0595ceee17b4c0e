"""What the host spends in each operator, annotation and call itself: its time less that of what it calls."""

from __future__ import annotations

import re

import numpy as np

from ..traces.events import Column, Events
from .host_ranges import DATALOADER
from .nested import Nested, nested

LOADER = "DataLoader"
_DIGITS = re.compile(r"\d+")


def own_times(events: Events) -> tuple[Column, Column]:
    """Rows of operators, annotations and calls, by thread, and of each the nanoseconds that none below it has."""
    found = nested(events)
    return found.rows, own_of(found)


def own_of(found: Nested) -> Column:
    """The nanoseconds of each range that none below it has; of ranges that cross, none counts twice."""
    events, rows = found.events, found.rows
    own, end = events.dur_ns[rows].astype(np.int64), events.end_ns(rows)
    below = np.flatnonzero(found.above >= 0)
    above = found.above[below]
    np.subtract.at(own, above, np.minimum(end[below], end[above]) - events.start_ns[rows[below]])
    return own


def label(name: str) -> str:
    """The name under which ranges of all steps, and of all kinds of DataLoader, are one: `ProfilerStep#N`."""
    return LOADER if DATALOADER.search(name) else _DIGITS.sub("N", name) if "#" in name or " " in name else name
