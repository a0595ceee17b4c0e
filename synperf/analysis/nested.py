"""Which operator each range of the host stands in: operators, annotations, calls of one thread, one below another."""

from __future__ import annotations

import numpy as np

from ..light_classes import dataclass
from ..traces.events import CALLS, Column, Events, Kind, stable


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """Rows by thread, in order of start. `above` is the place of the range that each stands in, -1 where there is none;
    `depth` how many are above it, `last` the place of the last range below it, its own where there is none: all between
    these are below it. `place` is where a row of the table is, -1 of rows that are not among these.
    """

    events: Events
    rows: Column
    above: Column
    depth: Column
    last: Column
    place: Column

    def operator(self, places: Column) -> Column:
        """The place of the innermost operator at or above each of these places; -1 stays -1."""
        if not len(self.rows):
            return places
        found = places.copy()
        is_operator = self.events.kind[self.rows] == Kind.OPERATOR
        while (rest := (found >= 0) & ~is_operator[found]).any():
            found[rest] = self.above[found[rest]]
        return found

    def summed(self, own: Column) -> Column:
        """What each range and all below it have, of what each has itself."""
        total, order = own.copy(), stable(self.depth)
        ends = np.cumsum(np.bincount(self.depth))
        for depth in range(len(ends) - 1, 0, -1):
            here = order[ends[depth - 1] : ends[depth]]
            np.add.at(total, self.above[here], total[here])
        return total

    def inside(self, marked: Column, name: Column) -> Column:
        """Whether a range stands in a marked one of the same name; `name` and `marked` are of each place."""
        order = stable(name)
        group = np.zeros(len(order), dtype=np.int64)
        group[1:] = np.cumsum(np.diff(name[order]) != 0)
        apart = group * (len(order) + 1)  # beyond whatever the names before reach
        found = np.empty(len(order), dtype=bool)
        found[order] = _reached(np.where(marked, self.last, -1)[order] + apart, order + apart)
        return found

    def below(self, marked: Column) -> Column:
        """Whether a marked range is somewhere above each place."""
        return _reached(np.where(marked, self.last, -1), np.arange(len(marked)))

    def innermost(self, rows: Column) -> Column:
        """The place of the innermost operator of the same thread in which each of these events begins, or -1."""
        found = np.full(len(rows), -1)
        where = np.stack([self.events.process[rows], self.events.thread[rows]])
        threads, of = np.unique(where, axis=1, return_inverse=True)
        for number, (process, thread) in enumerate(threads.T.tolist()):
            here = np.flatnonzero(np.ravel(of) == number)
            found[here] = self._covering(process, thread, self.events.start_ns[rows[here]])
        return found

    def _covering(self, process: int, thread: int, times: Column) -> Column:
        """The innermost operators of one thread at these times."""
        events = self.events
        mine = np.flatnonzero((events.process[self.rows] == process) & (events.thread[self.rows] == thread))
        if not len(mine):
            return np.full(len(times), -1)
        last = np.searchsorted(events.start_ns[self.rows[mine]], times, side="right") - 1
        found = np.where(last >= 0, mine[last], -1)
        is_operator, end = events.kind[self.rows] == Kind.OPERATOR, events.end_ns(self.rows)
        while (rest := (found >= 0) & ~(is_operator[found] & (end[found] > times))).any():
            found[rest] = self.above[found[rest]]
        return found


def nested(events: Events) -> Nested:
    """The ranges of all threads."""
    rows = events.of(Kind.OPERATOR, Kind.ANNOTATION, *CALLS)
    order = np.lexsort((events.thread[rows], events.process[rows]))  # stable: in order of start
    rows = rows[order]
    process, thread = events.process[rows], events.thread[rows]
    begins = np.ones(len(rows), dtype=bool)  # of a thread
    begins[1:] = (np.diff(process) != 0) | (np.diff(thread) != 0)
    above = _above(events.start_ns[rows], events.end_ns(rows), begins)
    place = np.full(len(events), -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    return Nested(events=events, rows=rows, above=above, depth=_depth(above), last=_last(above), place=place)


def _above(start: Column, end: Column, begins: Column) -> Column:
    """Places of what is above each range: the latest before it, of its thread, that ends after it starts, or -1.

    Rows are in order of start, the longer first. Whatever ends before a range starts is jumped over, with all that had
    ended before that one started, for all ranges at once.
    """
    above = np.arange(-1, len(start) - 1, dtype=np.int32)
    above[begins] = -1
    rest = np.flatnonzero(above >= 0)
    while (rest := rest[end[above[rest]] <= start[rest]]).size:
        above[rest] = above[above[rest]]
        rest = rest[above[rest] >= 0]
    return above


def _depth(above: Column) -> Column:
    """How many are above each."""
    depth, further = (above >= 0).astype(np.int32), above.copy()
    while (rest := np.flatnonzero(further >= 0)).size:
        at = further[rest]
        depth[rest] += depth[at]
        further[rest] = further[at]
    return depth


def _last(above: Column) -> Column:
    """The place of the last range below each: that of the last one which stands in it directly, and so on."""
    last, below = np.arange(len(above)), np.flatnonzero(above >= 0)
    last[above[below]] = below  # in order, so that the last one stays
    while ((further := last[last]) != last).any():
        last = further
    return last


def _reached(reach: Column, place: Column) -> Column:
    """Whether one of those before reaches as far as the place of each."""
    found = np.zeros(len(place), dtype=bool)
    found[1:] = np.maximum.accumulate(reach)[:-1] >= place[1:]
    return found
