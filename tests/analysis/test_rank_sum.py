"""The rank sum test: cases counted by hand, and what scipy says of the same numbers."""

import numpy as np
import pytest
from scipy import stats

from synperf.analysis.rank_sum import p_value, smallest_p


def test_four_steps_wholly_apart_from_four_are_no_chance():
    assert p_value([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)  # 2 of the 70 ways to deal 8 ranks out
    assert smallest_p(4, 4) == pytest.approx(2 / 70)


def test_three_and_three_can_never_tell():
    assert smallest_p(3, 3) == p_value([1, 2, 3], [1000, 2000, 3000]) == pytest.approx(2 / 20)


def test_one_ten_times_as_long_counts_as_one_long_step():
    assert p_value([1, 2, 3, 4], [5, 6, 7, 8000]) == p_value([1, 2, 3, 4], [5, 6, 7, 8])


def test_alike_samples_are_alike():
    assert p_value([5, 5, 5, 5], [5, 5, 5, 5]) == 1
    assert p_value(np.full(50, 5), np.full(60, 5)) == 1


@pytest.mark.parametrize("sizes", [(4, 4), (3, 9), (17, 20), (40, 60)])
def test_both_samples_may_change_places(sizes):
    draw = np.random.default_rng(0)
    a, b = (draw.integers(0, 30, size) for size in sizes)
    assert p_value(a, b) == pytest.approx(p_value(b, a))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_scipy_says(seed):
    draw = np.random.default_rng(seed)
    few, others = draw.normal(0, 1, 7), draw.normal(0.7, 1, 9)
    assert p_value(few, others) == pytest.approx(stats.mannwhitneyu(few, others, method="exact").pvalue)
    many, more = draw.integers(0, 40, 80), draw.integers(3, 43, 70)  # with equal ones
    assert p_value(many, more) == pytest.approx(stats.mannwhitneyu(many, more, method="asymptotic").pvalue)
