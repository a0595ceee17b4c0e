"""Factors from measured times: exact where times are exact, robust, never below 0, near to the prior without points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf.serving.factors import NAMES
from synperf.serving.fitting.solve import Features, Target, fit, general, non_negative

TRUE = np.array([0.8, 1.1, 0.9, 1.2, 1.0, 1e-3, 9e-6, 2e-3, 1e-5, 0.0, 2e-2, 1e-6, 3.0])


def made(points: int = 60, seed: int = 0) -> Features:
    """Features of the sizes that loads have."""
    drawn = np.random.default_rng(seed)
    tpot = drawn.uniform(0.2, 1.0, (points, 10)) * [1e-2, 2e-3, 4e-3, 1e-3, 1e-3, 0.8, 40, 0.3, 30, 400]
    ttft = drawn.uniform(0.2, 1.0, (points, 10)) * [1e-2, 2e-3, 2e-1, 4e-2, 2e-2, 1, 40, 3, 60, 8000]
    first = np.column_stack([np.ones(points), drawn.uniform(100, 8000, points), np.ones(points)])
    return Features(tpot=tpot, ttft=np.hstack([ttft, first]))


def measured(features: Features, values: np.ndarray = TRUE) -> Target:
    ttft, tpot = features.times(values)
    return Target(ttft_s=ttft, tpot_s=tpot)


def test_times_are_features_times_factors_and_the_flush_times_the_time_between_tokens():
    features = Features(tpot=np.full((1, 10), 2.0), ttft=np.ones((1, 13)))
    ttft, tpot = features.times(np.ones(13))
    assert (ttft[0], tpot[0]) == (12.0 + 20.0, 20.0)


def test_exact_times_are_found_again_to_a_percent():
    features = made()
    values, _ = fit(features, measured(features), general())
    ttft, tpot = features.times(values)
    target = measured(features)
    assert np.median(np.abs(ttft / target.ttft_s - 1)) < 0.015
    assert np.median(np.abs(tpot / target.tpot_s - 1)) < 0.015


def test_a_few_points_that_stalled_move_nothing_much():
    features = made()
    target = measured(features)
    stalled = Target(ttft_s=target.ttft_s.copy(), tpot_s=target.tpot_s)
    stalled.ttft_s[:5] *= 100
    values, _ = fit(features, stalled, general())
    ttft, _ = features.times(values)
    assert np.median(np.abs(ttft / target.ttft_s - 1)) < 0.05


def test_without_points_factors_are_the_prior():
    prior, none = general(), np.zeros(0, dtype=np.int64)
    values, loss = fit(made().take(none), measured(made()).take(none), prior, (prior.center[-1],))
    assert values == pytest.approx(prior.center)
    assert loss == pytest.approx(0.0, abs=1e-9)


def test_the_prior_has_a_number_for_every_factor():
    assert len(general().center) == len(general().scale) == len(NAMES)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_least_point_of_at_least_0_has_no_way_down(seed):
    drawn = np.random.default_rng(seed)
    root = drawn.normal(size=(8, 5))
    normal, right = root.T @ root + 1e-3 * np.eye(5), drawn.normal(size=5)
    x = non_negative(normal, right)
    gradient = normal @ x - right
    assert (x >= 0).all()
    assert (gradient[x == 0] >= -1e-6).all()
    assert np.abs(gradient[x > 0]).max(initial=0.0) < 1e-6
