"""Gradient-boosted trees on the inputs of our network, for each kernel and format.

Target: log(T / time) with T = launch floor + roofline at sustained rates, least absolute error. Trees do not
extrapolate: no time is further from T than that of some training rows.
Source: Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree", NeurIPS 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...api import family_of
from ...estimators.inputs import inputs, logarithms, sustained
from ...features import features
from ...hardware import GPU
from ...kernels.dispatch import engines
from ...measurements import Rows
from ...numeric import Number
from ..recipe import Devices, Predictor, Recipe
from .per_kernel import optional, per_kernel

SETTINGS = {
    "objective": "regression_l1",
    "learning_rate": 0.05,
    "num_leaves": 63,
    "deterministic": True,
    "num_threads": 1,  # two give the same trees, but wait for each other without end where cores are shared
    "force_row_wise": True,
    "verbosity": -1,
}


def recipe(*, num_trees: int = 600) -> Recipe:
    """Boosted trees, `num_trees` for each kernel and format."""

    def fit_with(rows: Rows, devices: Devices, seed: int) -> Predictor:
        return fit(rows, devices, seed, num_trees)

    return Recipe(name="boosted", summary="gradient-boosted trees on our features", fit=fit_with)


def fit(rows: Rows, devices: Devices, seed: int, num_trees: int) -> Predictor:
    """Trees by kernel and format; the seed matters where LightGBM samples rows to bin a large column.

    Raises:
        MissingExtraError: the extra [train] is not installed.
    """
    lightgbm = optional("lightgbm", "the boosted baseline")

    def one(table: np.ndarray, time_s: np.ndarray) -> Any:
        data = lightgbm.Dataset(table[:, 1:], np.log(table[:, 0] / time_s))
        return lightgbm.train({**SETTINGS, "seed": seed}, data, num_trees)

    return per_kernel(rows, devices, columns, one, _time_s)


def columns(call: Any, gpu: GPU) -> list[Number]:
    """T in seconds, then what the trees see: the logged inputs, and which engine it is."""
    kind = family_of(call)
    base_s, found = inputs(
        kind, call, gpu, features(kind, call, gpu), sustained(gpu, kind.name, call.kernel, call.dtype)
    )
    return [base_s, *logarithms(found, base_s).T, *(float(call.engine == name) for name in engines())]


def _time_s(trees: Any, table: np.ndarray) -> np.ndarray:
    seconds: np.ndarray = table[:, 0] / np.exp(trees.predict(table[:, 1:], num_threads=SETTINGS["num_threads"]))
    return seconds


RECIPE = recipe()
