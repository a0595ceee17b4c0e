"""What the host was doing: waits, copies, the DataLoader, any call or operator; and the innermost of them at a time."""

from __future__ import annotations

import re

import numpy as np

from ..traces.events import CALLS, Column, Events, Kind
from .intervals import Intervals

DATALOADER = re.compile(r"enumerate\(DataLoader\)|DataLoader.*__next__|DataLoaderIter\.__next__")
SYNC = re.compile(r"^(cuda|hip|cu)\w*(Synchronize|StreamWaitValue)\b|^(cuda|hip)Memcpy(_v\d+)?$|^hipMemcpyWithStream$")
COPY = re.compile(r"^(cuda|hip|cu)\w*Mem(cpy|set)\w*")
_SHOWN = (Kind.OPERATOR, Kind.ANNOTATION, *CALLS)


def calls(events: Events, pattern: re.Pattern[str]) -> Intervals:
    """When the host was in a call of the runtime or the driver with such a name."""
    rows = events.of(*CALLS)
    return Intervals.of(events, rows[events.named(pattern.search)[rows]])


def dataloader_rows(events: Events) -> Column:
    """Waits for the DataLoader, which is an annotation, and was an operator once."""
    rows = events.of(Kind.ANNOTATION, Kind.OPERATOR)
    return rows[events.named(DATALOADER.search)[rows]]


def anything(events: Events) -> Intervals:
    """When the host was in an operator, a call or a frame of Python. Annotations say nothing: steps are some."""
    return Intervals.of(events, events.of(Kind.OPERATOR, Kind.PYTHON, *CALLS))


class Doing:
    """Looks up what the host was doing at a time."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self._shown = events.of(*_SHOWN)
        self._python = events.of(Kind.PYTHON)

    def operator(self, time_ns: int, thread: int | None) -> str:
        """The innermost operator, annotation or call, of that thread if one is given; empty where there is none."""
        return self._innermost(self._shown, time_ns, thread)

    def python(self, time_ns: int, thread: int | None) -> str:
        """The innermost recorded frame of Python; empty where there is none."""
        return self._innermost(self._python, time_ns, thread)

    def _innermost(self, rows: Column, time_ns: int, thread: int | None) -> str:
        events = self.events
        covers = (events.start_ns[rows] <= time_ns) & (events.end_ns(rows) > time_ns)
        if thread is not None:
            covers &= events.thread[rows] == thread
        places = np.flatnonzero(covers)
        return events.text(int(rows[places[-1]])) if len(places) else ""
