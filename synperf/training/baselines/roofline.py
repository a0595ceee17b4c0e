"""The roofline times one factor for each kernel and format.

The factor is the one of least mean absolute percentage error on the training rows: sum |f r - t| / t is
sum (r / t) |f - t / r|, which the median of t / r under the weights r / t makes least.
Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api import family_of
from ...features import roofline
from ...hardware import GPU
from ...measurements import Rows
from ...numeric import Number
from ..recipe import Devices, Predictor, Recipe
from .per_kernel import per_kernel


def fit(rows: Rows, devices: Devices, _seed: int) -> Predictor:
    """Factor by kernel and format."""
    return per_kernel(rows, devices, columns, lambda table, time_s: factor(table[:, 0], time_s), _time_s)


def columns(call: Any, gpu: GPU) -> tuple[Number]:
    """Seconds on the nominal roofline, no launch."""
    kind = family_of(call)
    return (roofline(gpu, kind.math(call), kind.flop(call), kind.compulsory_bytes(call)),)


def factor(roofline_s: np.ndarray, time_s: np.ndarray) -> float:
    """What to multiply the roofline with for the least mean absolute percentage error."""
    ratio = time_s / roofline_s
    order = np.argsort(ratio)
    weight = np.cumsum(1 / ratio[order])
    return float(ratio[order][np.searchsorted(weight, weight[-1] / 2)])


def _time_s(factor: float, table: np.ndarray) -> np.ndarray:
    return factor * table[:, 0]


RECIPE = Recipe(name="roofline", summary="roofline times one factor for each kernel and format", fit=fit)
