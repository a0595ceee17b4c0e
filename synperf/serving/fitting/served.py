"""Measured serving points with all that fits and evaluations ask of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...measurements.points import Points
from ..in_step import Predict, in_step
from .fitted import Fit, fit
from .labels import Labels
from .simulated import Simulated, simulated
from .solve import Floats, Target

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Served:
    """Points with their labels, and their features by policy."""

    points: Points
    labels: Labels
    simulated: Simulated

    @classmethod
    def of(
        cls, points: Points, estimate: Predict = in_step, told: Callable[[int], None] = lambda _: None
    ) -> Served:  # fmt: skip
        """Every point, with kernels by `estimate`; `told` hears how many more are done.

        Raises: as `simulated`.
        """
        found = simulated(points, estimate=estimate, told=told)
        return cls(points=points, labels=Labels.of(points, found.formats), simulated=found)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def target(self) -> Target:
        """What was measured."""
        return Target(ttft_s=self.points.ttft_s, tpot_s=self.points.tpot_s)

    def take(self, which: Bools) -> Served:
        """The points of a mask."""
        return Served(
            points=self.points.take(which), labels=self.labels.take(which), simulated=self.simulated.take(which)
        )

    def fitted(self) -> Fit:
        """What is fitted to all of them."""
        return fit(self.labels, self.simulated.features, self.target)

    def e2e_s(self, ttft_s: Floats, tpot_s: Floats) -> Floats:
        """Time to the last token of answers of the nominal length."""
        found: Floats = ttft_s + tpot_s * (self.points.osl - 1)
        return found

    def times(self, made: Fit) -> tuple[Floats, Floats]:
        """Mean times to the first token and between tokens, by what was fitted."""
        return made.times(self.labels, self.simulated.features)

    def given(self, made: Fit) -> Fit:
        """The factors of a fit with the residuals of these points."""
        return made.given(self.labels, self.simulated.features, self.target)
