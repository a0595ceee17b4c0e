"""Sets of times: unions of half-open intervals in whole nanoseconds, sorted and apart from one another."""

from __future__ import annotations

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, Events


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals that neither meet nor overlap, in order."""

    start: Column
    end: Column

    @classmethod
    def union(cls, start: Column, end: Column) -> Intervals:
        """What any of the intervals covers; those that meet are one."""
        if not len(start):
            return cls(start, end)
        order = np.argsort(start, kind="stable")
        start, end = start[order], np.maximum.accumulate(end[order])
        first = np.concatenate(([True], start[1:] > end[:-1]))
        last = np.concatenate((first[1:], [True]))
        return cls(start[first], end[last])

    @classmethod
    def of(cls, events: Events, rows: Column) -> Intervals:
        """What these events cover."""
        return cls.union(events.start_ns[rows], events.end_ns(rows))

    def with_(self, other: Intervals) -> Intervals:
        """What either covers."""
        return Intervals.union(np.concatenate((self.start, other.start)), np.concatenate((self.end, other.end)))

    def gaps(self) -> Intervals:
        """What lies between the intervals."""
        return Intervals(self.end[:-1], self.start[1:])

    @property
    def total_ns(self) -> int:
        return int((self.end - self.start).sum())

    @property
    def span_ns(self) -> int:
        """From the first start to the last end."""
        return int(self.end[-1] - self.start[0]) if len(self.start) else 0

    def covered_before(self, times: Column) -> Column:
        """How much of the set lies before each of these times."""
        if not len(self.start):
            return np.zeros(len(times), dtype=np.int64)
        place = np.searchsorted(self.start, times, side="right") - 1
        done = np.concatenate(([0], np.cumsum(self.end - self.start)))
        inside = np.clip(times - self.start[place], 0, (self.end - self.start)[place])
        return np.where(place < 0, 0, done[place] + inside)

    def covered(self, start: Column, end: Column) -> Column:
        """How much of the set lies within each of these intervals."""
        return self.covered_before(end) - self.covered_before(start)
