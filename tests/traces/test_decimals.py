"""Times are decimal texts; none of their digits is lost."""

from decimal import ROUND_HALF_UP

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.traces.decimals import NONE, scaled


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1712195495506161.2", 1712195495506161200),  # a double has steps of a quarter there
        ("1365627862757.064", 1365627862757064),
        ("12", 12000),
        ("0.0004", 0),
        ("0.0005", 1),
        ("-1.5", -1500),
        ('"17.25"', 17250),
        ("1.5e3", 1500000),
        ("9223372036854775.807", 2**63 - 1),
        ("1700000000000000.1234999999999999", 1700000000000000123),
        ("0.0004999999999999999999999999999999", 0),
        ("0.0005000000000000000000000000000000", 1),
    ],
)
def test_a_time_in_us_is_whole_ns(text, ns):
    assert scaled([text.encode()], 3).tolist() == [ns]


@pytest.mark.parametrize("text", ["", "null", "NaN", "[1]", "1.2.3", "1-2", "-", "1e30", "99999999999999999999"])
def test_what_is_no_time_is_none_and_leaves_the_others(text):
    assert scaled([b"1.5", text.encode(), b"2"], 3).tolist() == [1500, NONE, 2000]


@given(st.lists(st.decimals(-(10**15), 10**15, places=6), min_size=1, max_size=20))
def test_any_decimals_are_rounded_half_away_from_zero(values):
    right = [int((v * 1000).to_integral_value(ROUND_HALF_UP)) for v in values]
    assert scaled([format(v, "f").encode() for v in values], 3).tolist() == right


def test_no_texts_are_no_numbers():
    assert scaled([], 3).dtype == np.int64


@pytest.mark.parametrize("text", [b"1E999999", b'"-1E+999999"', b"1E900000", b"1E99999999999999999999", b"9" * 40])
def test_a_number_of_too_many_digits_is_none_at_once(text):
    assert scaled([text, b"1.5"], 3).tolist() == [NONE, 1500]


@pytest.mark.parametrize("text", [b"1E-999999999", b"0E999", b"-0"])
def test_what_is_less_than_a_half_is_zero(text):
    assert scaled([text], 3).tolist() == [0]


def test_points_of_one_text_are_not_those_of_another():
    assert scaled([b'"2.3.5"', b"7"], 3).tolist() == [NONE, 7000]
    assert scaled([b"5", b'"1.2.5"'], 3).tolist() == [5000, NONE]
