"""Boosted trees."""

import numpy as np
import pytest

from synperf.training.baselines.boosted import columns, recipe

from .toy_rows import DEVICES, TWIN, rows

pytest.importorskip("lightgbm", reason="the boosted baseline is of the extra [train]")
MANY = [(m, n, k) for m in (1, 16, 128, 2048) for n in range(64, 640, 64) for k in (64, 512, 1024, 4096)]


def law(call, gpu):
    return np.where(call.m > 64, 2.0, 3.0) * columns(call, gpu)[0]


def test_a_slowdown_that_depends_on_an_extent_comes_out():
    measured = rows(law, extents=MANY)
    assert recipe(num_trees=60).fit(measured, DEVICES, 0)(measured, DEVICES) == pytest.approx(measured.time_s, rel=0.02)


def test_another_gpu_has_its_own_roofline():
    predict = recipe(num_trees=60).fit(rows(lambda call, gpu: 2 * columns(call, gpu)[0], extents=MANY), DEVICES, 0)
    other = rows(lambda call, gpu: 2 * columns(call, gpu)[0], extents=MANY, gpu=TWIN)
    assert predict(other, DEVICES) == pytest.approx(other.time_s, rel=1e-6)
