"""Packing: the worked example, and rows against the least number by brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.packing import packing

TEN = list(range(10, 101, 10))


def fewest(lengths, capacity):
    """The least number of rows, by trying every row for each length."""

    def place(left, rows):
        if not left:
            return len(rows)
        found = place(left[1:], [*rows, left[0]])
        for at, filled in enumerate(rows):
            if filled + left[0] <= capacity:
                found = min(found, place(left[1:], [*rows[:at], filled + left[0], *rows[at + 1 :]]))
        return found

    return place(sorted(lengths, reverse=True), [])


def test_ten_lengths_fill_six_rows():
    found = packing(TEN, capacity=100)
    assert found.bins == found.least_bins == 6
    assert found.is_optimal
    assert found.utilization == pytest.approx(550 / 600)
    assert found.packed == ((100,), (90, 10), (80, 20), (70, 30), (60, 40), (50,))
    assert found.cu_seqlens[1] == (0, 90, 100)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=7), st.integers(20, 40))
def test_rows_hold_all_and_the_bounds_are_bounds(lengths, capacity):
    found = packing(lengths, capacity=capacity)
    assert sorted(one for row in found.packed for one in row) == sorted(lengths)
    assert all(sum(row) <= capacity for row in found.packed)
    least = fewest(lengths, capacity)
    assert found.least_bins <= least <= found.bins <= 11 * least / 9 + 6 / 9
    assert found.attention_overhead >= 0 or found.bins * capacity**2 >= sum(one**2 for one in lengths)


@pytest.mark.parametrize(
    ("lengths", "capacity", "said"),
    [([], 10, "lengths"), ([11], 10, "capacity: 10 is less"), ([1], 0, "capacity"), ([-1], 4, "lengths")],
)
def test_bad_input_is_named(lengths, capacity, said):
    with pytest.raises(FieldError, match=said):
        packing(lengths, capacity=capacity)
