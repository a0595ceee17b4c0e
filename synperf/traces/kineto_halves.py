"""Events whose begin and end stand apart (phases B and E), joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .decimals import NONE, scaled
from .events import Column, Kind
from .kineto_batches import Decoded
from .kineto_columns import PLACES
from .kineto_events import NO_ARGS, Event
from .kineto_kinds import CATEGORIES
from .kineto_rows import Rows


def join(rows: Rows) -> int:
    """Adds the joined events to the rows, and returns how many begins and ends have no other half.

    An end belongs to the latest open begin of its process and thread that has its name; without a name to the latest.
    At one time, ends come before begins unless theirs has yet to come.
    """
    halves = rows.halves
    times = scaled([half.ts for half in halves], PLACES)
    order = np.lexsort((np.array([half.ph == "B" for half in halves]), times))
    begins: dict[Any, _Open] = defaultdict(_Open)  # by thread
    late: dict[Any, list[int]] = defaultdict(list)  # ends without a begin, by thread and time
    pairs: list[tuple[int, int]] = []
    for place in [p for p in order.tolist() if times[p] != NONE]:
        half = halves[place]
        thread = half.pid, half.tid
        if half.ph == "B":
            end = _early(halves, late.get((*thread, times[place])), half.name)
            if end is None:
                begins[thread].add(place, half.name)
            else:
                pairs.append((place, end))
        else:
            begin = begins[thread].taken(half.name)
            if begin is None:
                late[*thread, times[place]].append(place)
            else:
                pairs.append((begin, place))
    _add(rows, pairs, times)
    return len(halves) - 2 * len(pairs)


class _Open:
    """Begins of one thread whose ends have yet to come."""

    def __init__(self) -> None:
        self._all: list[int] = []
        self._named: dict[str, list[int]] = defaultdict(list)
        self._done: set[int] = set()  # that may still be in the lists

    def add(self, begin: int, name: str) -> None:
        self._all.append(begin)
        self._named[name].append(begin)

    def taken(self, name: str) -> int | None:
        """The latest of that name, or of any for none; None where there is none."""
        some = self._named[name] if name else self._all
        while some:
            if (begin := some.pop()) not in self._done:
                self._done.add(begin)
                return begin
        return None


def _early(halves: Sequence[Event], ends: list[int] | None, name: str) -> int | None:
    """Takes the first of some ends that is one of that name: with a begin at its time there is no duration."""
    found = next((end for end in ends or () if halves[end].name in ("", name)), None)
    if ends and found is not None:
        ends.remove(found)
    return found


def _add(rows: Rows, pairs: Sequence[tuple[int, int]], times: Column) -> None:
    joined: dict[Kind, list[tuple[int, int]]] = defaultdict(list)
    for begin, end in pairs:
        event = rows.halves[begin]
        kind = CATEGORIES.get(event.cat.lower())
        if kind == Kind.OTHER:
            continue
        if kind is None:
            rows.unknown += 1
            rows.kinds.unknown.add(event.cat or "none")
        else:
            joined[kind].append((begin, end))
            event.args = event.args if event.args is not NO_ARGS else rows.halves[end].args
    for kind, places in joined.items():
        begins, ends = np.array(places).T
        events = Decoded([rows.halves[begin] for begin, _ in places])
        rows.add_timed(kind, events, times[begins], times[ends] - times[begins])
