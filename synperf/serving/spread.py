"""Mean and percentiles of numbers that may each stand for many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .iterations import Floats, Integers


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles are interpolated linearly between the two nearest of all numbers, as NumPy does by default."""

    mean: float
    p50: float
    p90: float
    p99: float

    @classmethod
    def of(cls, values: Floats, counts: Integers | None = None) -> Spread | None:
        """Of `values`, each of which is there `counts` times, once by default; None where there are none."""
        many = np.ones(len(values), dtype=np.int64) if counts is None else counts
        total = int(many.sum())
        if not total:
            return None
        order = np.argsort(values)
        ranked, until = values[order], np.cumsum(many[order])
        p50, p90, p99 = (_percentile(ranked, until, share * (total - 1)) for share in (0.5, 0.9, 0.99))
        return cls(float(values @ many) / total, p50, p90, p99)


def _percentile(ranked: Floats, until: Integers, place: float) -> float:
    """The number at a place, counted from zero, which may lie between two."""
    below = int(place)
    low, high = ranked[np.searchsorted(until, [below, min(below + 1, until[-1] - 1)], side="right")]
    return float(low + (high - low) * (place - below))
