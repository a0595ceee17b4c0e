"""Linear regression on the paper's features, for each kernel and format.

Measured cycles = w0 + w1 x1 + ... + w11 x11, least squares of the relative error, no weight below 0, so that no time
is. Source: baseline `Linear` of SynPerf, arXiv 2601.14910; Lawson and Hanson, "Solving Least Squares Problems", 1974.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import paper
from ...hardware import GPU
from ...measurements import Rows
from ...numeric import Number
from ..recipe import Devices, Predictor, Recipe
from .per_kernel import optional, per_kernel


def fit(rows: Rows, devices: Devices, _seed: int) -> Predictor:
    """Weights by kernel and format.

    Raises:
        MissingExtraError: the extra [train] is not installed.
    """
    return per_kernel(rows, devices, columns, weights, _time_s)


def columns(call: Any, gpu: GPU) -> tuple[Number, ...]:
    """Clock, 1, and the paper's vector."""
    return gpu.clock_hz, 1.0, *paper.vector(call, gpu).values()


def weights(table: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """Cycles per unit of each column but the clock."""
    relative = table[:, 1:] / (time_s * table[:, 0])[:, np.newaxis]
    scale = np.linalg.norm(relative, axis=0)
    solver = optional("scipy.optimize", "the linear baseline")
    triangle, target = _reduced(relative / scale)
    found: np.ndarray = solver.nnls(triangle, target)[0] / scale
    return found


def _reduced(relative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least squares problem `relative` w = 1 with as many rows as columns and the same solution."""
    q, triangle = np.linalg.qr(relative)
    return triangle, q.sum(axis=0)


def _time_s(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    seconds: np.ndarray = table[:, 1:] @ weights / table[:, 0]
    return seconds


RECIPE = Recipe(name="linear", summary="linear regression on the paper's features", fit=fit)
