"""A baseline whose networks, one for each kernel and format, say which share of an ideal speed a call reaches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....measurements import Rows
from ...recipe import Devices, Predictor, Recipe
from ..per_kernel import Columns, optional, per_kernel
from .schedule import Schedule


def recipe(name: str, summary: str, columns: Columns, module: str, least: float, schedule: Schedule) -> Recipe:
    """time = ideal seconds / share; `columns` are ideal seconds and what the networks of a module beside this see.

    A share is never taken to be below `least`: a sigmoid that saturates to 0 has no time.
    """

    def fit(rows: Rows, devices: Devices, seed: int) -> Predictor:
        """Networks by kernel and format.

        Raises:
            MissingExtraError: the extra [train] is not installed.
            FieldError: a kernel and format has too few rows for a network.
        """
        nets = optional(f"{__package__}.{module}", f"the baseline {name}")

        def one(table: np.ndarray, time_s: np.ndarray) -> Any:
            return nets.fit(table[:, 1:], table[:, 0] / time_s, schedule, seed)

        def time_of(net: Any, table: np.ndarray) -> np.ndarray:
            seconds: np.ndarray = table[:, 0] / np.maximum(nets.predict(net, table[:, 1:]), least)
            return seconds

        return per_kernel(rows, devices, columns, one, time_of)

    return Recipe(name=name, summary=summary, fit=fit)
