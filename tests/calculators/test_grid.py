"""Grids at the limits of y and z, and how they fill a GPU.

The first case is https://github.com/ml-explore/mlx/pull/2267 and https://github.com/ml-explore/mlx/issues/3858.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.grid import grid
from synperf.hardware.capability import capabilities, capability
from tests.cli.runner import assert_refused, invoke

MOST = 2_147_483_647


@pytest.mark.parametrize("cc", [key for key in capabilities() if key[0].isdigit()])
def test_the_boundary_of_y(cc):
    found = grid(capability(cc), [(1, 65535, 1), (1, 65536, 1), (65536, 1, 1)])
    assert [one.valid for one in found.grids] == [True, False, True]
    assert found.limits == (MOST, 65535, 65535)
    assert found.grids[1].over == ("y",)
    assert found.grids[1].instead == (65536, 1, 1)


def test_it_is_told_in_words():
    seen = invoke("grid", "1,65536,1", "--cc", "8.0")
    assert seen.code == 0
    assert "grid (1, 65536, 1): INVALID, cannot launch: y is 65,536, its limit 65,535" in seen.out
    assert "put the long dimension along x, whose limit is 2,147,483,647: (65536, 1, 1)" in seen.out


def test_a_grid_that_no_axis_takes_becomes_a_loop():
    found = grid(capability("9.0"), [(MOST, 65536, 65536)])
    assert (found.grids[0].valid, found.grids[0].instead) == (False, None)
    assert "grid-stride loop" in found.advice[0]


def test_waves_of_a_gpu():
    found = grid(synperf.gpu("a100_sxm"), [(864,), (865,), (432,)], ctas_per_sm=8).grids
    assert [one.waves for one in found] == [1.0, pytest.approx(865 / 864), 0.5]
    assert [one.last_wave for one in found] == [1.0, pytest.approx(1 / 864), 0.5]
    assert [one.slots_used for one in found] == [1.0, pytest.approx(865 / 1728), 0.5]


@given(st.tuples(st.integers(1, 100_000), st.integers(1, 100_000), st.integers(1, 100_000)))
def test_what_stands_in_has_as_many_ctas_and_is_valid(axes):
    one = grid(capability("9.0"), [axes]).grids[0]
    assert one.valid == (axes[1] <= 65535 and axes[2] <= 65535)
    if one.instead is not None:
        assert grid(capability("9.0"), [one.instead]).grids[0].valid
        assert sorted(one.instead) == sorted(axes)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ([], "missing argument"),
        (["0,1,1"], "grid[0]"),
        (["1,1", "1,1,1,1"], "grid[1] must have from 1 to 3 axes"),
        (["1,x"], "grid[0]"),
        (["1.5"], "grid[0].x"),
        ([""], "grid[0]"),
        (["1", "--ctas-per-sm", "8"], "ctas_per_sm"),
    ],
)
def test_bad_input_is_one_sentence(options, word):
    seen = invoke("grid", *options, "--cc", "8.0")
    assert_refused(seen)
    assert word in seen.err


def test_limits_need_no_gpu():
    assert "(1, 65536, 1): INVALID, cannot launch: y is 65,536, its limit 65,535" in invoke("grid", "1,65536,1").out
    assert grid(None, [[1, 65535, 1], [65536, 1, 1]]) == grid(capability("9.0"), [[1, 65535, 1], [65536, 1, 1]])


def test_json_has_every_grid():
    found = json.loads(invoke("grid", "4,4", "--cc", "8.0", "--json").out)
    assert found["grids"][0]["ctas"] == 16
    with pytest.raises(FieldError, match="grid: none given"):
        grid(capability("8.0"), [])
