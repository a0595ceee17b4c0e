"""When things happen: the end of every run, and how far a run of decodes goes before a request comes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .iterations import Floats, Iterations, Run, Served

Seconds = Callable[[Run], float]  # of one iteration of a run, in the mean of its iterations


def cut(run: Callable[[int], Run], most: int, gap_s: float, seconds: Seconds) -> int:
    """The fewest iterations, up to `most`, that take `gap_s` at least; `run` gives the run of so many.

    Takes it that more of them take longer.
    """

    def lasts(iterations: int) -> float:
        return iterations * seconds(run(iterations))

    low, low_s, high, high_s = 0, 0.0, most, lasts(most)
    while high - low > 1 and high_s > gap_s:
        guess = low + int((gap_s - low_s) / (high_s - low_s) * (high - low)) + 1
        middle = min(max(guess, low + 1), high - 1)
        middle_s = lasts(middle)
        if middle_s >= gap_s:
            high, high_s = middle, middle_s
        else:
            low, low_s = middle, middle_s
    return high


def ends(iterations: Iterations, served: Served, seconds: Floats) -> Floats:
    """The time at which each run ends; `seconds` are of one iteration of each.

    A run begins where the one before it ends, or when a request comes if all that had come before have been served.
    """
    after = np.cumsum(iterations.repeats * seconds)
    before = np.concatenate(([0.0], after[:-1]))
    opens = np.concatenate(([0], np.maximum.accumulate(served.last)[:-1] + 1))  # the earliest run of each request
    clocked = (served.released_by < 0) & (opens < len(after))
    late = np.full(len(after), -np.inf)
    np.maximum.at(late, opens[clocked], served.arrived_s[clocked] - before[opens[clocked]])
    ended: Floats = after + np.maximum.accumulate(late)
    return ended
