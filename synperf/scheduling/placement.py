"""Which SM ran which task, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One entry per task in issue order. Times and costs share one unit, whichever the caller chose."""

    sm: np.ndarray
    start: np.ndarray
    cost: np.ndarray
    num_sms: int

    @property
    def loads(self) -> np.ndarray:
        """Summed cost of each SM's tasks."""
        return np.bincount(self.sm, weights=self.cost, minlength=self.num_sms)

    @property
    def counts(self) -> np.ndarray:
        """Tasks of each SM."""
        return np.bincount(self.sm, minlength=self.num_sms)

    @property
    def makespan(self) -> float:
        """When the last task ends."""
        return float((self.start + self.cost).max(initial=0.0))

    @property
    def imbalance(self) -> float:
        """Load of the busiest SM over the mean load."""
        return float(self.loads.max() / self.loads.mean())
