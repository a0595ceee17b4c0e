"""Times between one token of a request and its next, for all tokens of many requests, with how many have each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .iterations import Floats, Integers, Iterations, Served


def gaps(
    iterations: Iterations, served: Served, seconds: Floats, ended_s: Floats, kept: npt.NDArray[np.bool_]
) -> tuple[Floats, Integers]:
    """(times, how many gaps last so long) of the requests that are kept.

    `seconds` are of one iteration of each run, `ended_s` the ends of runs. Runs without decodes lengthen the gaps of
    requests that are in decode before them; those whose prompts end in them wait from there.
    """
    stalls = served.stalls[kept[served.stalls[:, 0]]]
    draw = np.flatnonzero(iterations.decodes > 0)
    pause = np.flatnonzero(iterations.decodes == 0)
    count = _drawing(served, stalls, kept, len(iterations))[draw]
    first_s = ended_s[draw] - (iterations.repeats[draw] - 1) * seconds[draw]  # ends of the first iteration of each run
    fresh = _fresh(served, stalls, kept, len(iterations))[pause]
    after = np.searchsorted(draw, pause)  # the run of decodes that follows; past the last, nobody waits
    fresh, pause, after = fresh[after < len(draw)], pause[after < len(draw)], after[after < len(draw)]
    known = count - np.bincount(after, fresh, len(draw)).astype(np.int64)
    since_s = np.concatenate(([0.0], ended_s[draw[:-1]]))[: len(draw)]  # nobody is known before the first
    parts = (
        (first_s - since_s, known),
        (first_s[after] - ended_s[pause], fresh),
        (seconds[draw], count * (iterations.repeats[draw] - 1)),
        (ended_s[stalls[:, 2]] - ended_s[stalls[:, 1]], np.ones(len(stalls), dtype=np.int64)),
    )
    return np.concatenate([times for times, _ in parts]), np.concatenate([counts for _, counts in parts])


def _drawing(served: Served, stalls: Integers, kept: npt.NDArray[np.bool_], rows: int) -> Integers:
    """Requests that draw a token of decode in each iteration of a run, where it has decodes."""
    return _between(served.first[kept], served.last[kept], rows) - _between(stalls[:, 1], stalls[:, 2], rows)


def _between(after: Integers, until: Integers, rows: int) -> Integers:
    """How many are past `after` and not past `until`, at each run."""
    changes = np.bincount(after + 1, minlength=rows + 1) - np.bincount(until + 1, minlength=rows + 1)
    return np.cumsum(changes)[:rows]


def _fresh(served: Served, stalls: Integers, kept: npt.NDArray[np.bool_], rows: int) -> Integers:
    """Requests that draw a token at the end of a prompt in each run, and the next one in decode."""
    more = kept & (served.osl > 1)
    again = stalls[served.last[stalls[:, 0]] > stalls[:, 2], 2]
    ended, resumed, lost = (np.bincount(runs, minlength=rows) for runs in (served.first[more], again, stalls[:, 1]))
    return ended + resumed - lost
