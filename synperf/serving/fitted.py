"""What is known of a stack: factors on predicted kernels, the policy of its engine, and how far both are off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .answer import Interval
from .factors import Factors
from .policy import Policy

if TYPE_CHECKING:
    from .fitting.labels import Labels
    from .fitting.residual import Residual

GENERAL = "general"  # the level of engines that nobody measured
ENGINE = "engine"  # that of GPUs on which nobody measured the engine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """Factors and policy of a stack, a sentence on where they come from, and the central 80 % of what was measured.

    `level` is the nearest that was measured: the engine, the stack of engine and GPU, the model's family on it, or its
    recipe (format, tp and ep); `general` of none. Intervals are None there. `left` are what measured points leave of
    the times to the first token and between tokens.
    """

    factors: Factors
    policy: Policy
    level: str
    origin: str
    ttft: Interval | None
    tpot: Interval | None
    e2e: Interval | None
    label: Labels | None = None
    left: tuple[Residual, ...] = ()
    versions: tuple[str, ...] = ()  # of the engine, that were measured on the GPU
    is_own: bool = False  # of a user's own points

    @property
    def is_of_gpu(self) -> bool:
        """Whether the engine was measured on this GPU."""
        return self.level not in (GENERAL, ENGINE)

    def ratios(self, concurrency: int, isl: int, osl: int) -> tuple[float, float]:
        """What mean times to the first token and between tokens of a closed loop are multiplied by.

        They are what measured points of the recipe and its kin were off, by how near their loads are.
        """
        if self.label is None:
            return 1.0, 1.0
        loads = np.log2(np.array([[concurrency, isl, osl]], dtype=float))
        here = self.label.loading(np.concatenate((loads, self.label.loads[:, loads.shape[1] :]), axis=1))
        ttft, tpot = (float(np.exp(residual.at(here)[0])) for residual in self.left)
        return ttft, tpot


def bare(policy: Policy, origin: str) -> Fitted:
    """No factors: kernels and messages as predicted."""
    return Fitted(factors=Factors(), policy=policy, level=GENERAL, origin=origin, ttft=None, tpot=None, e2e=None)
