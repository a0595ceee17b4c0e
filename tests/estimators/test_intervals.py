"""The 80 % around an estimate is made of its launch and its work."""

import pytest

from synperf.estimators.intervals import _ratios, interval


def test_bounds_weigh_launch_and_work_by_their_own_ratios():
    (launch_low, launch_high), (work_low, work_high) = _ratios()
    low_s, high_s = interval(2e-6, 8e-6, 10e-6, 0.0)
    assert low_s == pytest.approx(2e-6 * launch_low + 8e-6 * work_low)
    assert high_s == pytest.approx(2e-6 * launch_high + 8e-6 * work_high)
    assert launch_low <= 1 <= launch_high
    assert work_low <= 1 <= work_high


def test_nothing_is_below_the_floor():
    assert interval(0.0, 10e-6, 10e-6, 9.9e-6)[0] == 9.9e-6
