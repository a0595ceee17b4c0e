"""What a calculator takes for a number."""

import numpy as np
import pytest

from synperf import FieldError
from synperf.calculators.amounts import all_not_negative, all_positive, count, extent, not_negative, positive, share


def test_numbers_within_all_proportion_are_taken():
    positive(one=1e-18, other=1e24)
    not_negative(one=0, other=1.5)
    all_positive("times", [1, 2.5])
    all_not_negative("times", [0, 2.5])
    assert count("ranks", 8.0) == 8


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e25, 1e-19])
def test_others_are_refused_by_name(value):
    with pytest.raises(FieldError, match="size must be above 0"):
        positive(size=value)
    with pytest.raises(FieldError, match=r"times\[1\] must be above 0"):
        all_positive("times", [1, value])


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e25])
def test_below_0_is_refused_by_name(value):
    with pytest.raises(FieldError, match="size must be 0 or above"):
        not_negative(size=value)
    with pytest.raises(FieldError, match=r"times\[0\] must be 0 or above"):
        all_not_negative("times", [value])


@pytest.mark.parametrize("value", [0, -0.5, 1.01, float("nan")])
def test_a_share_is_above_0_and_up_to_1(value):
    share(part=1)
    with pytest.raises(FieldError, match="part must be above 0 and up to 1"):
        share(part=value)


def test_an_empty_list_is_refused():
    with pytest.raises(FieldError, match="times must have from 1 to 65536 values, got 0"):
        all_positive("times", [])


@pytest.mark.parametrize("value", [None, "5", b"5", [1.0], (1, 2), {}, np.array([1.0, 2.0]), True, 1j])
@pytest.mark.parametrize("check", [positive, not_negative, share])
def test_what_is_not_one_number_is_refused_by_name(check, value):
    with pytest.raises(FieldError, match="size must be a number"):
        check(size=value)


def test_numbers_of_numpy_are_numbers_and_whole_ones_may_be_floats():
    positive(size=np.float32(4), other=np.int64(4))
    assert (count("ranks", np.int64(8)), count("ranks", 8.0), extent("ranks", "8")) == (8, 8, 8)
    all_positive("times", np.array([1.0, 2.0]))


@pytest.mark.parametrize("value", [[1, 2], np.array([1, 2]), np.array([]), 1.5, None, "x", 2**31, float("nan")])
def test_what_is_not_one_whole_number_is_refused_by_name(value):
    with pytest.raises(FieldError, match="ranks must be"):
        extent("ranks", value)


@pytest.mark.parametrize("values", [None, 5, "1,2", 1.5])
def test_what_is_no_list_is_refused_by_name(values):
    with pytest.raises(FieldError, match="times must be a list of numbers"):
        all_positive("times", values)


def test_a_number_that_no_float_holds_is_refused():
    with pytest.raises(FieldError, match="size must be above 0"):
        positive(size=10**400)
