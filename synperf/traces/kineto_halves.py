"""Events whose begin and end stand apart (phases B and E), joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
    times = scaled([half.ts for half in rows.halves], PLACES)
    order = np.lexsort((np.array([half.ph == "B" for half in rows.halves]), times))
    open_: dict[tuple[object, object], list[int]] = defaultdict(list)
    late: list[int] = []
    pairs: list[tuple[int, int]] = []
    for place in [p for p in order.tolist() if times[p] != NONE]:
        half = rows.halves[place]
        stack = open_[half.pid, half.tid]
        if half.ph == "E":
            found = _begin(rows.halves, stack, half.name)
            if found is None:
                late.append(place)
            else:
                pairs.append((found, place))
        else:
            stack.append(place)
            _close(rows.halves, stack, late, times, pairs)
    _add(rows, pairs, times)
    return len(rows.halves) - 2 * len(pairs)


def _begin(halves: Sequence[Event], stack: list[int], name: str) -> int | None:
    """Takes the begin that an end belongs to off the stack."""
    for depth in range(len(stack) - 1, -1, -1):
        if not name or halves[stack[depth]].name == name:
            return stack.pop(depth)
    return None


def _close(
    halves: Sequence[Event], stack: list[int], late: list[int], times: Column, pairs: list[tuple[int, int]]
) -> None:
    """Joins the begin on top of the stack with an end at the same time that came before it: it has no duration."""
    begin = stack[-1]
    for place in late:
        half = halves[place]
        same = (half.pid, half.tid) == (halves[begin].pid, halves[begin].tid)
        if times[place] == times[begin] and same and half.name in ("", halves[begin].name):
            late.remove(place)
            pairs.append((stack.pop(), place))
            return


def _add(rows: Rows, pairs: Sequence[tuple[int, int]], times: Column) -> None:
    joined: dict[Kind, list[tuple[int, int]]] = defaultdict(list)
    for begin, end in pairs:
        event = rows.halves[begin]
        kind = CATEGORIES.get(event.cat.lower())
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
