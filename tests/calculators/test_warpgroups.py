"""Registers that warpgroups hand to each other.

The cases are https://github.com/tile-ai/tilelang/issues/2406 and https://github.com/NVIDIA/cutlass/issues/1676.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.warpgroups import warpgroups
from synperf.errors import UnsupportedError
from synperf.hardware.capability import capability
from tests.cli.runner import assert_refused, invoke

H100 = synperf.gpu("h100_sxm")
requests = st.integers(3, 32).map(lambda units: 8 * units)


def layout(*registers):
    return warpgroups(H100, [registers]).layouts[0]


def test_168_at_launch_is_the_mean_of_40_and_two_of_232():
    found = layout(40, 232, 232)
    assert (found.launch_registers, found.total, found.fits) == (168, 64512, True)
    assert "a launch with 168 a thread, the mean" in found.why


@pytest.mark.parametrize(
    ("registers", "total", "fits", "largest"),
    [
        ((24, 240, 240), 64512, True, 240),
        ((24, 24, 240, 240), 67584, False, 232),
        ((24, 24, 224, 224), 63488, True, 232),
        ((24, 240, 240, 240), 95232, False, 160),
        ((24, 160, 160, 160), 64512, True, 160),
    ],
)
def test_layouts_that_fit_and_that_hang(registers, total, fits, largest):
    found = layout(*registers)
    assert (found.total, found.fits, found.largest) == (total, fits, largest)


def test_it_is_told_in_words():
    seen = invoke("warpgroups", "40,232,232", "24,24,240,240", "--gpu", "h100_sxm")
    assert "24 + 24 + 240 + 240      512     67,584     65,536  136 > 128      232  deadlock" in seen.out
    assert "40 + 232 + 232           384     64,512     64,512        168      232  fits" in seen.out
    assert "24 + 24 + 240 + 240: 2 warpgroups can ask for 232 at most, of the 65,536 at launch" in seen.out


@given(st.lists(requests, min_size=1, max_size=8))
def test_the_largest_request_fits_and_a_larger_one_does_not(registers):
    found = layout(*registers)
    highest = max(registers)
    if found.largest is None:
        return

    def asked(value):
        return 128 * sum(value if one == highest else one for one in registers)

    assert asked(found.largest) <= found.available
    assert found.largest == 256 or asked(found.largest + 8) > found.available
    assert found.fits == (found.total <= found.available)


@pytest.mark.parametrize(
    ("layouts", "word"),
    [
        (["24,30"], "layout[0][1] must be a multiple of 8 from 24 to 256, got 30"),
        (["16,232"], "layout[0][0]"),
        (["264"], "layout[0][0]"),
        (["24,24,24,24,24,24,24,24,24"], "layout[0] must have from 1 to 8 warpgroups"),
        ([""], "layout[0]"),
        (["24,x"], "layout[0][1]"),
        (["24", "0"], "layout[1][0]"),
    ],
)
def test_bad_input_is_one_sentence(layouts, word):
    seen = invoke("warpgroups", *layouts, "--gpu", "h100_sxm")
    assert_refused(seen)
    assert word in seen.err


def test_the_instruction_came_with_9_0():
    with pytest.raises(UnsupportedError, match="has no setmaxnreg"):
        warpgroups(capability("8.9"), [(24, 240)])
    with pytest.raises(FieldError, match="layout: none given"):
        warpgroups(capability("9.0"), [])
