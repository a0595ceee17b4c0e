"""Ranks that wait for the slowest, worked out by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.calculators.imbalance import imbalance
from tests.cli.runner import assert_refused, invoke


def test_three_wait_for_a_fourth():
    found = imbalance(times=(100, 100, 100, 120))
    assert found.efficiency == 0.875
    assert (found.step_s, found.mean_s, found.idle_s, found.slowest) == (120, 105, 60, (3,))
    assert found.advice[0] == "bring the slowest down to the next, 100 s: 1.2 times faster, efficiency 100 %"


def test_the_command_takes_the_plain_numbers():
    assert json.loads(invoke("imbalance", "--times", "100,100,100,120", "--json").out)["efficiency"] == 0.875


def test_equal_ranks_have_nothing_to_gain():
    found = imbalance(times=(3, 3))
    assert (found.efficiency, found.idle_s, found.slowest) == (1, 0, (0, 1))
    assert found.advice == ("all ranks take the same time: nothing to gain",)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50))
def test_efficiency_is_between_that_of_one_rank_and_1(times):
    found = imbalance(times=times)
    assert 1 / len(times) * (1 - 1e-9) <= found.efficiency <= 1 + 1e-9
    assert found.idle_s == pytest.approx(sum(max(times) - one for one in times), abs=1e-6 * max(times))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ("", "times: an empty list"),
        ("1,0", "times[1] must be above 0"),
        ("1,-2", "times[1] must be above 0"),
        ("1,,2", "times[1]: '' is not a number"),
        ("1,nan", "times[1]: 'nan' is not a number"),
        ("1,2GB", "times[1]: '2GB' is in B"),
    ],
)
def test_bad_input_is_one_sentence(times, said):
    seen = invoke("imbalance", "--times", times)
    assert_refused(seen)
    assert said in seen.err
