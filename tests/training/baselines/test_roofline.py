"""Roofline times a factor."""

import numpy as np
import pytest

from synperf.training.baselines.roofline import RECIPE, columns, factor

from .toy_rows import DEVICES, TWIN, rows


def test_the_factor_that_was_planted_comes_out():
    predict = RECIPE.fit(rows(lambda call, gpu: 1.7 * columns(call, gpu)[0]), DEVICES, 0)
    other = rows(lambda call, gpu: 1.7 * columns(call, gpu)[0], gpu=TWIN)
    assert predict(other, DEVICES) == pytest.approx(other.time_s)


def test_the_factor_is_the_one_of_least_mean_percentage_error():
    # Errors at 1, 2 and 4: 0 + 1/2 + 3/4, 1 + 0 + 1/2, 3 + 1 + 0.
    assert factor(np.ones(3), np.array([4.0, 1.0, 2.0])) == 1.0


def test_each_kernel_has_a_factor_of_its_own():
    slow = rows(lambda call, gpu: 3 * columns(call, gpu)[0], kernel="plain")
    fast = rows(lambda call, gpu: 2 * columns(call, gpu)[0])
    predict = RECIPE.fit(type(slow).join([slow, fast]), DEVICES, 0)
    assert predict(slow, DEVICES) == pytest.approx(1.5 * predict(fast, DEVICES))
