"""Independent instructions of a warp."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.ilp import ilp


@pytest.mark.parametrize(("warps", "needed"), [(1, 4), (2, 2), (3, 2), (4, 1), (16, 1)])
def test_four_cycles_of_fma(warps, needed):
    assert ilp(pipe_latency_cycles=4, warps_per_scheduler=warps).instructions == needed


@given(st.integers(1, 1000), st.integers(1, 64))
def test_enough_is_the_least_that_fills_every_clock(latency, warps):
    needed = ilp(pipe_latency_cycles=latency, warps_per_scheduler=warps).instructions
    assert needed * warps >= latency
    assert needed == 1 or (needed - 1) * warps < latency


@pytest.mark.parametrize(
    ("latency", "warps", "issue", "field"),
    [(0, 1, 1, "pipe_latency_cycles"), (4, 0, 1, "warps_per_scheduler"), (4, 1.5, 1, "warps_per_scheduler"),
     (4, 65, 1, "warps_per_scheduler"), (4, 1, float("nan"), "issue_per_clk")],
)  # fmt: skip
def test_bad_numbers_are_named(latency, warps, issue, field):
    with pytest.raises(FieldError, match=field):
        ilp(pipe_latency_cycles=latency, warps_per_scheduler=warps, issue_per_clk=issue)
