"""Error metrics, worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.errors import FieldError
from synperf.evaluation.metrics import Errors, cluster_error, coverage, share_below, signed_error


def array(*values):
    return np.array(values, dtype=np.float64)


def test_signed_error_of_three_measured_latencies():
    error = signed_error(array(131, 85, 79), array(128, 89, 76))
    assert [f"{e:+.2%}" for e in error] == ["+2.34%", "-4.49%", "+3.95%"]


def test_five_errors_by_hand():
    measured = array(10, 10, 10, 10, 60)
    e = Errors.of(array(11, 8, 10, 13, 54), measured)  # +10 %, -20 %, 0, +30 %, -10 %
    assert e.mape == pytest.approx(0.14)
    assert e.median == pytest.approx(0.1)
    assert e.p90 == pytest.approx(0.26)  # 0.6 of the way from 20 % to 30 %
    assert e.wmape == pytest.approx((1 + 2 + 0 + 3 + 6) / 100)
    assert e.bias == pytest.approx(0.02)


def test_coverage_counts_the_ends():
    assert coverage(array(1, 1, 1, 1), array(2, 2, 2, 2), array(1, 2, 0.9, 2.1)) == 0.5


def test_share_below_does_not_count_the_bound_itself():
    assert share_below(array(2, 2, 2, 2), array(1, 2, 3, 1.9)) == 0.5


def test_a_measurement_of_zero_is_refused():
    with pytest.raises(FieldError, match="every time must be a positive number"):
        Errors.of(array(1, 1), array(1, 0))


def test_no_rows_have_no_error():
    with pytest.raises(FieldError, match="there are no rows"):
        Errors.of(array(), array())


def test_columns_of_two_lengths_are_refused():
    with pytest.raises(FieldError, match="predicted has 1 rows, but measured has 2"):
        Errors.of(array(1), array(1, 2))


times = st.lists(st.floats(1e-7, 1e3), min_size=1, max_size=30)


@given(times, st.floats(0.01, 100))
def test_a_constant_factor_is_every_error(measured, factor):
    e = Errors.of(array(*measured) * factor, array(*measured))
    assert (e.mape, e.median, e.p90, e.wmape) == pytest.approx((abs(factor - 1),) * 4, abs=1e-9)
    assert e.bias == pytest.approx(factor - 1, abs=1e-9)


@given(times)
def test_bias_is_never_beyond_the_mean_error(measured):
    real = array(*measured)
    e = Errors.of(real[::-1].copy(), real)
    assert abs(e.bias) <= e.mape * (1 + 1e-12)


def test_the_error_of_a_share_counts_clusters_and_not_rows():
    held = np.repeat([1.0, 0.0, 1.0, 1.0], 100)
    cluster = np.repeat(["a", "b", "c", "d"], 100)
    assert cluster_error(held, cluster) == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / 2)
    assert np.isnan(cluster_error(held[:100], cluster[:100]))
