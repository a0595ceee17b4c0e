"""Which call of the host launched a GPU event: the one of the same correlation."""

from __future__ import annotations

import numpy as np

from ..traces.events import CALLS, Column, Events


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
