"""How far predictions are from measurements. Every figure is a ratio: 0.05 is 5 %."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Summary of the errors of many rows.

    `mape`, `median` and `p90` are of the absolute relative error; `wmape` is the sum of absolute errors over the
    sum of measured times, so a row weighs what it lasts; `bias` is the mean signed error, above 0 for too slow.
    """

    mape: float
    median: float
    p90: float
    wmape: float
    bias: float

    @classmethod
    def of(cls, predicted: np.ndarray, measured: np.ndarray) -> Errors:
        """Errors of predictions, row by row.

        Raises:
            FieldError: no rows, columns of two lengths, or a measurement that is not a positive number.
        """
        signed = signed_error(predicted, measured)
        absolute = np.abs(signed)
        return cls(
            mape=float(absolute.mean()),
            median=float(np.median(absolute)),
            p90=float(np.quantile(absolute, 0.9)),
            wmape=float((absolute * measured).sum() / measured.sum()),
            bias=float(signed.mean()),
        )


def signed_error(predicted: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """(predicted - measured) / measured, row by row.

    Raises:
        FieldError: no rows, columns of two lengths, or a measurement that is not a positive number.
    """
    _check(predicted, measured)
    if not (np.isfinite(measured) & (measured > 0)).all():
        raise FieldError("measured: every time must be a positive number")
    error: np.ndarray = (predicted - measured) / measured
    return error


def coverage(low: np.ndarray, high: np.ndarray, measured: np.ndarray) -> float:
    """Share of measurements inside [low, high]: 0.8 when the central 80 % is what it says."""
    _check(low, measured)
    _check(high, measured)
    return float(((low <= measured) & (measured <= high)).mean())


def cluster_error(held: np.ndarray, cluster: np.ndarray) -> float:
    """Standard error of a share whose rows come in clusters that go together; NaN of one cluster.

    Source: Liang and Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73 (1986), for a
    mean, with the correction for few clusters.
    """
    _check(held, cluster)
    _, of = np.unique(cluster, return_inverse=True)
    count = int(of.max()) + 1
    if count < 2:
        return float("nan")
    sums = np.bincount(of, held - held.mean())
    return float(np.sqrt((sums**2).sum() * count / (count - 1)) / len(held))


def relative_width(low: np.ndarray, high: np.ndarray, predicted: np.ndarray) -> float:
    """Median of half the interval over the estimate: 0.1 for an estimate of 1 between 0.9 and 1.1."""
    _check(low, predicted)
    _check(high, predicted)
    return float(np.median((high - low) / 2 / predicted))


def share_within(limit: float, predicted: np.ndarray, measured: np.ndarray) -> float:
    """Share of predictions whose absolute relative error is up to a limit.

    Raises: as `signed_error`.
    """
    return float((np.abs(signed_error(predicted, measured)) <= limit).mean())


def share_below(bound: np.ndarray, measured: np.ndarray) -> float:
    """Share of measurements below a bound that no measurement should be below."""
    _check(bound, measured)
    return float((measured < bound).mean())


def _check(column: np.ndarray, measured: np.ndarray) -> None:
    if len(measured) == 0:
        raise FieldError("measured: there are no rows")
    if len(column) != len(measured):
        raise FieldError(f"predicted has {len(column)} rows, but measured has {len(measured)}")
