"""The paper's own model, one network for each kernel and format: features -> efficiency -> time.

Efficiency is theoretical tensor cycles over measured cycles, so time = theoretical cycles / (efficiency x clock).
Outside the training range the sigmoid of the released model saturates to 0, which has no time: an efficiency is
never taken to be below `LEAST_EFFICIENCY`, so that every time is finite. It still may be wrong there by any factor.
Source: SynPerf, arXiv 2601.14910, section on training, and its artifact (Apache-2.0); docs/baselines.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import paper
from ...hardware import GPU
from ...measurements import Rows
from ...numeric import Number
from ..recipe import Devices, Predictor, Recipe
from .nets.schedule import Schedule
from .per_kernel import optional, per_kernel

LEAST_EFFICIENCY = 1e-9  # the epsilon of the loss: what is below it was not told apart in training


def recipe(*, max_epochs: int = 2500, minutes: float | None = None) -> Recipe:
    """The paper's recipe, which stops early by itself; `max_epochs` and `minutes` (of each network) end it before.

    The paper's seed is 42. A training that `minutes` ends is not the same a second time.
    """
    schedule = Schedule(max_epochs=max_epochs, minutes=minutes)

    def fit_with(rows: Rows, devices: Devices, seed: int) -> Predictor:
        return fit(rows, devices, seed, schedule)

    return Recipe(name="paper", summary="the paper's network, trained on its vector of 11 features", fit=fit_with)


def fit(rows: Rows, devices: Devices, seed: int, schedule: Schedule) -> Predictor:
    """Networks by kernel and format.

    Raises:
        MissingExtraError: the extra [train] is not installed.
        FieldError: a kernel and format has too few rows for a network.
    """
    nets = optional(f"{__package__}.nets.efficiency", "the paper's network")

    def one(table: np.ndarray, time_s: np.ndarray) -> Any:
        return nets.fit(table[:, 1:], _theoretical_s(table) / time_s, schedule, seed)

    def time_s(net: Any, table: np.ndarray) -> np.ndarray:
        efficiency = np.maximum(nets.predict(net, table[:, 1:]), LEAST_EFFICIENCY)
        seconds: np.ndarray = _theoretical_s(table) / efficiency
        return seconds

    return per_kernel(rows, devices, columns, one, time_s)


def columns(call: Any, gpu: GPU) -> tuple[Number, ...]:
    """Clock, and the paper's vector."""
    return gpu.clock_hz, *paper.vector(call, gpu).values()


def _theoretical_s(table: np.ndarray) -> np.ndarray:
    """Theoretical cycles over the clock."""
    seconds: np.ndarray = table[:, 1 + paper.NAMES.index("tensor_cycles")] / table[:, 0]
    return seconds


RECIPE = recipe()
