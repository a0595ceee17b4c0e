"""Whether one sample is larger than another by more than chance: the rank sum test of Wilcoxon, Mann and Whitney.

It asks nothing of how times are distributed, so that a step of ten times the median counts as one large step.
Source: Mann and Whitney, Annals of Mathematical Statistics 18, 1947.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from statistics import NormalDist

import numpy as np

from ..traces.events import Column

_EXACT = 40  # numbers up to which all ways to deal out the ranks are counted


def p_value(a: Sequence[float] | Column, b: Sequence[float] | Column) -> float:
    """The chance of rank sums this far apart, on either side, if both samples, neither empty, were of one kind."""
    both = np.concatenate((a, b))
    _, place, times = np.unique(both, return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(times) - times + 1)[place]  # ranks times two: equal numbers share the mean of theirs
    far = abs(int(doubled[: len(a)].sum()) - len(a) * (len(both) + 1))
    if len(both) <= _EXACT:
        return _exact(doubled, len(a), far)
    return _normal(times, len(a), len(b), far)


def smallest_p(a: int, b: int) -> float:
    """What the test says of samples of these sizes that are wholly apart."""
    return min(1.0, 2.0 / comb(a + b, a))


def _exact(doubled: Column, size: int, far: int) -> float:
    """Of all ways to choose that many ranks, those whose sum is at least as far from the mean."""
    ways = np.zeros((size + 1, int(doubled.sum()) + 1), dtype=np.int64)
    ways[0, 0] = 1
    for rank in doubled.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    sums = np.arange(ways.shape[1])
    as_far = np.abs(sums - size * (len(doubled) + 1)) >= far
    return float(ways[size, as_far].sum() / ways[size].sum())


def _normal(times: Column, a: int, b: int, far: int) -> float:
    """By the normal distribution, with the correction for equal numbers and the half step of continuity."""
    whole = a + b
    ties = float((times.astype(float) ** 3 - times).sum()) / (whole * (whole - 1))
    deviation = sqrt(a * b / 12 * (whole + 1 - ties))
    if deviation == 0:
        return 1.0
    return min(1.0, 2 * NormalDist().cdf(-max(far / 2 - 0.5, 0.0) / deviation))
