"""Levels of factors, residuals of recipes, and what a few measured points are worth."""

import numpy as np
import pytest

from synperf.serving.fitting import residual
from synperf.serving.fitting.fitted import left_out
from synperf.serving.fitting.labels import STACK, nearest
from synperf.serving.fitting.residual import krige
from synperf.serving.fitting.tree import grow

from .points import FAMILIES, served


def off(found: np.ndarray, measured: np.ndarray) -> float:
    return float(np.median(np.abs(found / measured - 1)))


def test_a_level_with_few_points_takes_the_factors_above_it():
    every = served(16)
    tree = grow(every.labels, every.simulated.features, every.target)
    assert set(tree.nodes) >= {("vllm",)}
    assert not any(len(key) == len(STACK) for key in tree.nodes)  # 8 points each
    key, node = tree.node(("vllm", "l40s", "daily", "other"))
    assert (key, node.points) == (("vllm",), 16)
    assert tree.node(("sglang", "l40s", "daily", "other")) is None


def test_times_of_engines_that_nobody_measured_are_not_a_number():
    every = served()
    made = every.fitted()
    other = every.take(np.arange(len(every)) < 3)
    other.labels.engine[:] = "sglang"
    assert np.isnan(np.concatenate(other.times(made))).all()


def test_what_factors_explain_is_predicted_to_a_few_percent():
    every = served()
    half = every.take(~every.points.is_test)
    test = every.take(every.points.is_test)
    ttft, tpot = test.times(half.fitted())
    assert off(tpot, test.target.tpot_s) < 0.05
    assert off(ttft, test.target.ttft_s) < 0.1


def test_one_measured_point_of_a_family_brings_it_nearer_and_three_nearer_still():
    every = served(scales={"one": 2.0})
    unknown = every.points.family == "one"
    made = every.take(~unknown).fitted()
    rows = np.flatnonzero(unknown)
    errors = []
    for count in (0, 1, 3):
        known = ~unknown
        known[rows[:count]] = True
        test = every.take(unknown & ~known)
        _, tpot = test.times(every.take(known).given(made))
        errors.append(off(tpot, test.target.tpot_s))
    assert errors[0] > errors[1] > errors[2]


def test_a_residual_is_near_what_was_measured_there_and_fades_with_the_distance_of_loads():
    labels = served().labels
    one = labels.take(np.array([0]))
    found = krige(one, np.array([0.2]), residual.TPOT)
    far = one.loading(one.loads + np.array([6.0, 6.0, 0.0, 0.0, 0.0]))
    assert 0.1 < found.at(one)[0] < 0.2
    assert 0.0 < found.at(far)[0] < found.at(one)[0]


def test_a_residual_says_nothing_of_another_stack():
    labels = served().labels
    here, other = labels.take(labels.gpu == "h100_sxm"), labels.take(labels.gpu == "b200_sxm")
    found = krige(here, np.full(len(here), 0.3), residual.TTFT)
    assert (found.at(other) == 0).all()


def test_points_that_are_left_out_are_told_by_the_others():
    every = served()
    parts = [every.points.family == name for name in FAMILIES[:2]]
    ttft, tpot = left_out(every.labels, every.simulated.features, every.target, parts)
    assert np.isnan(tpot[every.points.family == FAMILIES[2]]).all()
    said = np.isfinite(tpot)
    assert off(tpot[said], every.target.tpot_s[said]) < 0.1
    assert np.isfinite(ttft[said]).all()


def test_the_order_of_points_does_not_matter():
    every = served()
    turned = every.take(np.arange(len(every))[::-1])
    assert every.fitted().tree.nodes[("vllm",)].values == pytest.approx(
        turned.fitted().tree.nodes[("vllm",)].values, rel=1e-3
    )


def test_the_nearest_that_is_known_is_the_recipe_then_the_family_then_the_stack():
    labels = served().labels
    here = labels.take(np.array([0]))
    assert nearest(here, labels) == ["recipe"]
    assert nearest(here, labels.take(labels.family != here.family[0])) == ["stack"]
    assert nearest(here, labels.take(labels.gpu != here.gpu[0])) == ["engine"]
    here.tp[:] = "8"
    assert nearest(here, labels) == ["family"]
