"""Factors from measured times to the first token and between tokens: robust, none below 0, near to a prior.

Both times are linear in factors but for the flush of the first token, which multiplies the time between tokens. The
sum of absolute relative errors is made least by least squares whose weights are the inverse errors of the step before,
beside squared distances from the prior in units of how far factors are from it in general (Gauss-Newton in the flush).
Source: Holland and Welsch, "Robust regression using iteratively reweighted least-squares", 1977.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from ..factors import ITERATION, NAMES, Factors

Floats = npt.NDArray[np.float64]
ITERATION_FACTORS = len(ITERATION)
FLUSHES = (0.0, 1.0, 4.0, 12.0, 24.0)  # starts: the error has several dips over the flush
_STEPS = 25
_HOLDS = 60
_NO_GAIN = 1e-9
_LEAST_ERROR = 0.01  # relative; below it errors count as squared
_FLUSH = NAMES.index("first_flush")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Features:
    """What factors multiply in mean times of points, a row each: seconds and counts, in the order of `NAMES`.

    `tpot` has a column for each factor of an iteration, `ttft` for each factor; that of the flush is the share of
    requests with several tokens, and is multiplied by the time between tokens too.
    """

    tpot: Floats
    ttft: Floats

    def __len__(self) -> int:
        return len(self.tpot)

    def take(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> Features:
        """The points that a mask or indices name."""
        return Features(**{one.name: getattr(self, one.name)[which] for one in fields(self)})

    def times(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean times to the first token and between tokens with factors in the order of `NAMES`, alike or by row."""
        values = np.broadcast_to(values, (len(self), len(NAMES)))
        tpot = (self.tpot * values[:, :ITERATION_FACTORS]).sum(axis=1)
        flushed = self.ttft[:, _FLUSH] * values[:, _FLUSH] * tpot
        return (self.ttft[:, :_FLUSH] * values[:, :_FLUSH]).sum(axis=1) + flushed, tpot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """Measured mean times of the same points; both lengths are those of the features."""

    ttft_s: Floats
    tpot_s: Floats

    def take(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> Target:
        """The points that a mask or indices name."""
        return Target(ttft_s=self.ttft_s[which], tpot_s=self.tpot_s[which])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Where factors are expected, and how far from it they are in general; a distance counts as `weight` points."""

    center: Floats
    scale: Floats
    weight: float = 1.0

    def around(self, center: Floats, tightness: float = 1.0) -> Prior:
        """The same about another centre, with scales divided by `tightness`."""
        return Prior(center=center, scale=self.scale / tightness, weight=self.weight)


def general() -> Prior:
    """What is expected of any engine, in the order of `NAMES`: what fits of three engines came to, as orders of
    magnitude (kernels 0.5 to 1.1 of predicted ones, 0.3 to 1.5 ms of the host for an iteration and 5 to 14 us for a
    request, 5 to 30 ms and up to 2 us for each token of the prompt before the first token).
    """
    center = Factors(
        decode_host_s=5e-4, decode_request_s=1e-5, prefill_host_s=2e-3, prefill_request_s=1e-5, prefill_token_s=0.0,
        first_constant_s=1.5e-2, first_token_s=5e-7, first_flush=1.0,
    )  # fmt: skip
    scale = (0.5, 0.5, 0.5, 0.5, 0.5, 2e-3, 3e-6, 5e-3, 3e-6, 5e-6, 3e-2, 2e-6, 15.0)
    return Prior(center=np.array([getattr(center, name) for name in NAMES]), scale=np.array(scale), weight=2.0)


def fit(features: Features, target: Target, prior: Prior, flushes: Iterable[float] = FLUSHES) -> tuple[Floats, float]:
    """Factors in the order of `NAMES`, and their loss; of several starts of the flush the one of least loss."""
    found = [_descend(features, target, prior, flush) for flush in flushes]
    return min(found, key=lambda pair: pair[1])


def loss(features: Features, target: Target, values: Floats) -> float:
    """Sum over points of absolute relative errors of both times."""
    ttft, tpot = features.times(values)
    return float(np.abs(ttft / target.ttft_s - 1).sum() + np.abs(tpot / target.tpot_s - 1).sum())


def _descend(features: Features, target: Target, prior: Prior, flush: float) -> tuple[Floats, float]:
    values = prior.center.copy()
    values[_FLUSH] = flush
    best, least = values, np.inf
    for _ in range(_STEPS):
        values = _step(features, target, prior, values)
        total = loss(features, target, values) + _distance(values, prior)
        if total < least * (1 - 1e-4):
            best, least = values, total
        elif total > least * (1 - 1e-5):
            break
    return best, least


def _distance(values: Floats, prior: Prior) -> float:
    return float(prior.weight * (((values - prior.center) / prior.scale) ** 2).sum())


def _step(features: Features, target: Target, prior: Prior, values: Floats) -> Floats:
    """Weighted least squares about the last values."""
    ttft, tpot = features.times(values)
    share = features.ttft[:, _FLUSH:] * values[_FLUSH]
    rows_first = features.ttft.copy()
    rows_first[:, _FLUSH] *= tpot
    rows_first[:, :ITERATION_FACTORS] += share * features.tpot
    rows_first /= target.ttft_s[:, None]
    aim_first = 1 + share[:, 0] * tpot / target.ttft_s
    rows_between = np.zeros((len(tpot), len(NAMES)))
    rows_between[:, :ITERATION_FACTORS] = features.tpot / target.tpot_s[:, None]
    rows, aim = np.vstack([rows_first, rows_between]), np.concatenate([aim_first, np.ones(len(tpot))])
    errors = np.concatenate([ttft / target.ttft_s, tpot / target.tpot_s]) - 1
    weights = 0.5 / np.maximum(np.abs(errors), _LEAST_ERROR)
    scaled = rows * prior.scale
    normal = scaled.T @ (weights[:, None] * scaled) + prior.weight * np.eye(len(NAMES))
    right = scaled.T @ (weights * aim) + prior.weight * prior.center / prior.scale
    return non_negative(normal, right) * prior.scale


def non_negative(normal: Floats, right: Floats) -> Floats:
    """The x of at least 0 that makes x'Ax / 2 - b'x least; A is positive definite.

    Those that would be below 0 are held there, and let go again where that makes it less.
    Source: Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23, with several held at once.
    """
    free, x = np.ones(len(right), dtype=bool), np.zeros(len(right))
    for _ in range(_HOLDS):
        x = np.zeros(len(right))
        x[free] = np.linalg.solve(normal[np.ix_(free, free)], right[free])
        if np.any(x < 0):
            free &= x > 0
            continue
        gain = np.where(free, 0.0, right - normal @ x)
        if gain.max() <= _NO_GAIN * np.abs(right).max():
            break
        free[gain.argmax()] = True
    return np.maximum(x, 0.0)
