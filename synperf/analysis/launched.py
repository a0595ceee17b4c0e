"""Which call of the host launched a GPU event: the one of the same correlation."""

from __future__ import annotations

import re

import numpy as np

from ..traces.events import CALLS, Column, Events, distinct

_GRAPH = re.compile(r"GraphLaunch")


def launches(events: Events, rows: Column) -> Column:
    """The row of the call that launched each of these GPU events, -1 where it is not in the file.

    A graph launch is the call of everything that it replays.
    """
    calls = events.of(*CALLS)
    calls = calls[events.correlation[calls] > 0]
    if not len(calls):
        return np.full(len(rows), -1)
    calls = calls[np.argsort(events.correlation[calls], kind="stable")]
    known, wanted = events.correlation[calls], events.correlation[rows]
    place = np.minimum(np.searchsorted(known, wanted), len(calls) - 1)
    return np.where((known[place] == wanted) & (wanted > 0), calls[place], -1)


def interval_ns(events: Events, calls: Column) -> int | None:
    """Median time from one of these launches to the next, graphs left out: what the host needs for one. None of one."""
    calls = distinct(calls[calls >= 0])
    starts = np.sort(events.start_ns[calls[~is_graph(events, calls)]])
    return int(np.median(np.diff(starts))) if len(starts) > 1 else None


def is_graph(events: Events, calls: Column) -> Column:
    """Whether each of these calls launches a graph."""
    return events.named(calls, _GRAPH.search)
