"""Coverage where it could be wrong though the whole is right.

By regime, a format and a band of estimated times, which is what intervals are made of; and by cell, a regime of one
GPU, engine and kernel, whose rows share few shapes: what a cell's interval holds says as much of those shapes as of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .metrics import cluster_error, coverage
from .predictions import Predictions

LEAST_ROWS = 1000  # of fewer, a share is no figure: that of 1000 is within 2.5 points of the truth in 19 of 20 cases
BANDS = ((10e-6, "up to 10 us"), (100e-6, "up to 100 us"), (np.inf, "above 100 us"))  # of the estimate
MEANT = (0.77, 0.83)  # an interval that means to hold 80 % does, give or take what 1000 rows can tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """Rows of a format and a band of estimated times, and the share of them that their intervals hold.

    `gpu`, `engine` and `kernel` are `all` for a regime, and those of a cell.
    """

    gpu: str
    engine: str
    kernel: str
    dtype: str
    band: str
    split: str
    rows: int
    shapes: int  # distinct; errors of one go together, so that a regime of few says little of others
    coverage: float
    coverage_error: float | None = None  # standard error over shapes drawn anew; None of one shape

    @property
    def name(self) -> str:
        """What it is called."""
        if not self.is_cell:
            return f"{self.dtype}: {self.band}"
        return f"{self.engine}.{self.kernel}.{self.dtype} on {self.gpu}, {self.band}"

    @property
    def is_cell(self) -> bool:
        """Whether it is of one GPU, engine and kernel."""
        return self.gpu != "all"

    @property
    def is_as_meant(self) -> bool:
        """Whether the interval holds as many as it says."""
        return MEANT[0] <= self.coverage <= MEANT[1]


def regimes(p: Predictions, gpu: str, engine: str, kernel: str, dtype: str) -> Iterator[Regime]:
    """The regimes of one GPU, engine, kernel and format that have rows enough, of all rows and of the test rows."""
    for split, chosen in (("all", np.ones(len(p), dtype=bool)), ("test", p.is_test)):
        start = 0.0
        for end, band in BANDS:
            part = p.take(chosen & (p.time_s > start) & (p.time_s <= end))
            start = end
            if len(part) >= LEAST_ROWS:
                held = (part.low_s <= part.measured_s) & (part.measured_s <= part.high_s)
                error = cluster_error(held.astype(float), part.shape)
                yield Regime(
                    gpu=gpu, engine=engine, kernel=kernel, dtype=dtype, band=band, split=split, rows=len(part),
                    shapes=len(np.unique(part.shape)),
                    coverage=coverage(part.low_s, part.high_s, part.measured_s),
                    coverage_error=error if np.isfinite(error) else None,
                )  # fmt: skip
