"""How far measured times of a calibrated kernel lie from held-out ones: the intervals of a calibration itself.

From `REGIME_ROWS` rows on they stand for those of the weights. Fewer rows can but widen these: where rates were tuned
on them, or where so many of them lie outside that chance alone is no reason.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..estimators import learned
from ..estimators.calibration_file import MOST_LOG, REGIME_ROWS, ZERO_SHOT
from ..estimators.weights import Regime, Weights
from ..hardware import GPU
from ..measurements import Rows
from .calibration_choice import SURE, Choice
from .calibration_rows import launches

REGIMES_S = (10e-6, 100e-6, float("inf"))
_MISSED = 0.2  # share of times that a central 80 % does not hold


def intervals(
    rows: Rows, index: np.ndarray, pool: str, name: str, choice: Choice, weights: Weights | None
) -> tuple[Regime, ...]:
    """Regimes of the rows at `index` of a kernel and format; none where those of the weights stay as they are."""
    if weights is None or pool not in choice.served:
        return ()
    is_few = len(index) < REGIME_ROWS
    if is_few and choice.method[pool] == ZERO_SHOT and not surely_outside(rows.take(index), choice.gpu, weights):
        return ()
    return regimes(rows.time_s[index], choice.time_s[index], name)


def surely_outside(rows: Rows, gpu: GPU, weights: Weights) -> bool:
    """Whether more rows lie outside the intervals of the weights than 20 % by more than `SURE` standard deviations."""
    outside = 0
    for index, kind, call in launches(rows):
        found = learned.known(kind, call, gpu, weights, any_balance=True)
        if found is not None:
            time_s = rows.time_s[index]
            outside += int(((time_s < found.low_s) | (time_s > found.high_s)).sum())
    return outside > _MISSED * len(rows) + SURE * sqrt(_MISSED * (1.0 - _MISSED) * len(rows))


def regimes(measured_s: np.ndarray, held_out_s: np.ndarray, name: str) -> tuple[Regime, ...]:
    """Central 80 % of held-out errors, apart for short and long calls where both have rows enough."""
    ratio = np.clip(np.log(measured_s / held_out_s), -MOST_LOG, MOST_LOG)
    which = np.searchsorted(REGIMES_S, held_out_s)
    apart = np.bincount(which, minlength=len(REGIMES_S)).min() >= REGIME_ROWS
    masks = [which == i for i in range(len(REGIMES_S))] if apart else [np.ones(len(ratio), dtype=bool)]
    ends = REGIMES_S if apart else REGIMES_S[-1:]
    return tuple(_regime(ratio[mask], end, name) for mask, end in zip(masks, ends, strict=True))


def _regime(ratio: np.ndarray, end: float, name: str) -> Regime:
    """Ends that hold 80 % of further rows, and more of few: each is outward by what its count spreads over."""
    n, ordered = len(ratio), np.sort(ratio)
    below = max(int(np.floor(0.1 * (n + 1) - np.sqrt(0.09 * n))), 1)
    low, high = min(float(ordered[below - 1]), 0.0), max(float(ordered[n - below]), 0.0)
    return Regime(name=name, up_to_s=min(end, 1e9), rows=n, low=low, high=high)
