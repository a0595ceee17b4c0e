"""Divergence: the exercise of two paths of 100 and 10 cycles, and laws over any paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.divergence import divergence
from synperf.hardware.capability import capability
from tests.cli.runner import assert_refused, invoke

branches = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 8)), min_size=1, max_size=4).filter(
    lambda branch: any(count for _, count in branch)
)


def test_two_paths_of_a_warp_run_one_after_the_other():
    found = divergence([100, 10], [16, 16])
    assert found.cycles == 110
    assert (found.useful_lane_cycles, found.lane_cycles) == (1760, 3520)
    assert found.efficiency == 0.5
    assert (found.regrouped_cycles, found.speedup) == (55, 2.0)


def test_a_path_that_no_lane_takes_is_skipped():
    found = divergence([100, 10], [32, 0])
    assert (found.cycles, found.efficiency) == (100, 1.0)
    assert found.advice == ("nothing to gain: all lanes take one path",)


def test_an_if_without_else_leaves_lanes_idle():
    assert divergence([100, 0], [8, 24]).efficiency == 0.25


def test_waves_of_64_have_64_lanes():
    assert divergence([100, 10], [32, 32], capability("gfx942")).efficiency == 0.5


@given(branches)
def test_every_lane_walked_through_its_paths_gives_the_same(branch):
    paths, lanes = zip(*branch, strict=True)
    found = divergence(paths, lanes)
    useful = 0
    for path, count in branch:
        useful += sum(path for _ in range(count))
    assert found.cycles == sum(path for path, count in branch if count)
    assert found.efficiency == pytest.approx(useful / (32 * found.cycles))
    assert 0 < found.efficiency <= 1
    assert found.speedup * found.efficiency == pytest.approx(1)


@pytest.mark.parametrize(
    ("paths", "lanes", "message"),
    [
        ([100, 10], [16], "lanes has 1 values, but paths has 2"),
        ([100, 10], [16, 17], "lanes must be from 1 to 32 in all, those of a warp, got 33"),
        ([100, 10], [0, 0], "lanes must be from 1 to 32 in all"),
        ([100, -1], [16, 16], r"paths\[1\] must be 0 or above"),
        ([100, float("nan")], [16, 16], r"paths\[1\] must be 0 or above"),
        ([0, 0], [16, 16], "paths: none that a lane takes has any cycles"),
        ([100, 10], [1.5, 16], r"lanes\[0\] must be a whole number"),
    ],
)
def test_bad_lists_are_named(paths, lanes, message):
    with pytest.raises(FieldError, match=message):
        divergence(paths, lanes)


@pytest.mark.parametrize("paths", ["", "100,", "100,x", "100,inf", "1e300,1"])
def test_bad_text_is_one_sentence(paths):
    seen = invoke("divergence", "--paths", paths, "--lanes", "16,16")
    assert_refused(seen)
    assert "paths" in seen.err
