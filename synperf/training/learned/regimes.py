"""The spread of held-out errors, by regime: the origin of a row and how long the predicted time is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...estimators.weights import Regime

LEAST_ROWS = 1000  # fewer say nothing about the ends of a distribution
BANDS = ((10e-6, "up to 10 us"), (100e-6, "up to 100 us"), (np.inf, "above 100 us"))
TAILS = (0.1, 0.9)
NEVER = 1e30  # seconds: the last band has no end, and JSON no infinity


def regimes(name: str, time_s: np.ndarray, apart: np.ndarray) -> tuple[Regime, ...]:
    """Regimes of the rows of one origin, bands of too few rows joined with the next; empty for too few in all.

    `apart` is log(measured / predicted), `time_s` the predicted time.
    """
    found: list[Regime] = []
    start = 0.0
    for end, said in BANDS:
        inside = (time_s > start) & (time_s <= end)
        enough_left = (time_s > end).sum() >= LEAST_ROWS or end == np.inf
        if inside.sum() >= LEAST_ROWS and enough_left:
            low, high = np.quantile(apart[inside], TAILS)
            found.append(Regime(name=f"{name}: {said}", up_to_s=min(end, NEVER), rows=int(inside.sum()),
                                low=round(float(low), 5), high=round(float(high), 5)))  # fmt: skip
            start = end
    return tuple(found)


def by_group(groups: Mapping[str, np.ndarray], time_s: np.ndarray, apart: np.ndarray) -> dict[str, tuple[Regime, ...]]:
    """Regimes of every group that has rows enough; `groups` are the indices of their rows."""
    found = {name: regimes(name, time_s[rows], apart[rows]) for name, rows in groups.items()}
    return {name: bands for name, bands in found.items() if bands}
