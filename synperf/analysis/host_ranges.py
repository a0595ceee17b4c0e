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
_NEAR, _FURTHER = 1024, 8  # ranges before a time that are looked at first, and how many times more are next


def calls(events: Events, pattern: re.Pattern[str]) -> Intervals:
    """When the host was in a call of the runtime or the driver with such a name."""
    rows = events.of(*CALLS)
    return Intervals.of(events, rows[events.named(rows, pattern.search)])


def dataloader_rows(events: Events) -> Column:
    """Waits for the DataLoader, which is an annotation, and was an operator once."""
    rows = events.of(Kind.ANNOTATION, Kind.OPERATOR)
    return rows[events.named(rows, DATALOADER.search)]


def anything(events: Events) -> Intervals:
    """When the host was in an operator, a call or a frame of Python. Annotations say nothing: steps are some."""
    return Intervals.of(events, events.of(Kind.OPERATOR, Kind.PYTHON, *CALLS))


class _InOrder:
    """Ranges of the host in order of their start."""

    def __init__(self, events: Events, rows: Column) -> None:
        self.events = events
        self.rows = rows
        self.starts = events.start_ns[rows]

    def innermost(self, time_ns: int, thread: int | None) -> str:
        """The name of the last one to begin of those, of that thread if one is given, that a time is in; else empty."""
        events = self.events
        end, step = int(np.searchsorted(self.starts, time_ns, side="right")), _NEAR
        while end > 0:
            near = self.rows[max(end - step, 0) : end]
            covers = events.end_ns(near) > time_ns
            if thread is not None:
                covers &= events.thread[near] == thread
            if covers.any():
                return events.text(int(near[np.flatnonzero(covers)[-1]]))
            end, step = end - step, step * _FURTHER
        return ""


class Doing:
    """Looks up what the host was doing at a time."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self._shown = _InOrder(events, events.of(*_SHOWN))
        self._python = _InOrder(events, events.of(Kind.PYTHON))

    def operator(self, time_ns: int, thread: int | None) -> str:
        """The innermost operator, annotation or call, of that thread if one is given; empty where there is none."""
        return self._shown.innermost(time_ns, thread)

    def python(self, time_ns: int, thread: int | None) -> str:
        """The innermost recorded frame of Python; empty where there is none."""
        return self._python.innermost(time_ns, thread)
