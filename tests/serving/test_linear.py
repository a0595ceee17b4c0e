"""Mean times as sums of features times factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.serving.factors import ITERATION, NAMES, Factors
from synperf.serving.linear import weights
from synperf.serving.loop import serve
from synperf.serving.policy import Policy
from synperf.serving.statistics import statistics
from synperf.serving.workload import ClosedLoop
from tests.serving.reference import load
from tests.serving.test_loop_laws import cases


def test_one_request_by_hand():
    """A prompt of one iteration and four decodes in one run."""
    iterations, served = serve(load([7], [5]), Policy())
    costs = np.zeros((2, len(ITERATION)))
    costs[:, 0], costs[:, 1] = (10.0, 1.0), (0.0, 2.0)
    found = weights(iterations, served).of(costs)
    assert found.ttft.tolist() == [10.0, 0.0, *[0.0] * 8, 1.0, 7.0, 1.0]
    assert found.tpot.tolist() == [1.0, 2.0, *[0.0] * 8]


@given(cases(kinds=("static", "closed")), st.integers(0, 2**32))
def test_features_times_factors_are_the_mean_times(case, seed):
    arrivals, policy, max_tokens = case
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens)
    assert_same(iterations, served, np.random.default_rng(seed))


def test_features_of_a_long_load_are_the_mean_times():
    iterations, served = serve(ClosedLoop(concurrency=64, isl=1024, osl=512).arrivals(), Policy(), max_tokens=60_000)
    assert served.preempted.any()
    assert_same(iterations, served, np.random.default_rng(0))


def assert_same(iterations, served, generator):
    costs = generator.uniform(0.1, 1.0, (len(iterations), len(ITERATION)))
    factors = Factors(**dict(zip(NAMES, generator.uniform(0.1, 2.0, len(NAMES)), strict=True)))
    whole = statistics(iterations, served, costs @ factors.of_iterations(), factors).whole
    found = weights(iterations, served).of(costs)
    assert found.ttft_s(factors) == pytest.approx(whole.ttft_s.mean, rel=1e-9)
    assert found.tpot_s(factors) == pytest.approx(whole.tpot_s.mean if whole.tpot_s else 0.0, rel=1e-9)
