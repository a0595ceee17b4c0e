"""How measured times spread around the analytical estimate of a calibrated GPU, on training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import api
from ..errors import FieldError
from ..hardware import GPU, Calibration
from ..measurements import Rows
from ..numeric import concatenated
from .toml import Table

LEAST_ROWS = 1000  # fewer say nothing about the ends of a distribution


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residuals:
    """Measured times beside estimated ones, and what limits each estimate."""

    measured_s: np.ndarray
    time_s: np.ndarray
    limiter: np.ndarray

    @classmethod
    def join(cls, parts: Sequence[Residuals]) -> Residuals:
        """One part after the other.

        Raises:
            FieldError: there is no part.
        """
        if not parts:
            raise FieldError("rows: there are no training rows")
        return cls(**concatenated(parts))


def residuals(rows: Rows, gpu: GPU, calibration: Calibration) -> Residuals:
    """Training rows of one GPU beside the analytical estimate with that calibration."""
    calibrated, parts = replace(gpu, calibration=calibration), []
    for _, part in rows.take(~rows.is_test).groups(*rows.labels()):
        found = api.predict(part.call(), calibrated, origin="analytical")
        parts.append(Residuals(measured_s=part.time_s, time_s=found.time_s, limiter=np.asarray(found.limiter)))
    return Residuals.join(parts)


def ratios(found: Residuals) -> dict[str, Table]:
    """Measured / estimated at 10 and 90 %, of the rows that the launch limits and of those that work does.

    A part with too few rows has the ratios of all.
    """
    ratio, launched = found.measured_s / found.time_s, found.limiter == "launch"
    chosen = {"launch": launched, "work": ~launched}
    return {name: _central(ratio[mask] if mask.sum() >= LEAST_ROWS else ratio) for name, mask in chosen.items()}


def _central(ratio: np.ndarray) -> Table:
    low, high = np.quantile(ratio, (0.1, 0.9))
    return {"p10": round(float(low), 4), "p90": round(float(high), 4)}
