"""Places of values in images, worked out by hand and against NumPy."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.images.memory import Images, index, strides
from synperf.calculators.layout import layout
from synperf.hardware import DType
from tests.cli.runner import assert_refused, invoke

A100 = synperf.gpu("a100_sxm")
SMALL = {"batch": 1, "channels": 64, "height": 56, "width": 56}


def test_the_size_of_a_batch_and_what_its_conversion_moves():
    found = layout(**SMALL, dtype="fp32", gpu=A100, target="nhwc")
    assert found.size_bytes == 802_816
    assert found.conversion.conversion_bytes == 1_605_632
    assert found.conversion.conversion_s == pytest.approx(0.787e-6, rel=1e-3)


def test_a_conversion_has_paid_after_time_over_gain_uses():
    made = layout(**SMALL, dtype="fp32", gpu=A100, target="nhwc", gain_s=0.1e-6).conversion
    assert made.break_even_uses == 8
    assert made.break_even_uses_with_launch == np.ceil((made.conversion_s + made.launch_s) / 0.1e-6)


def test_strides():
    of = Images(batch=2, channels=64, height=56, width=56, dtype=DType.FP16, block=16)
    assert strides(of, "nchw") == {"n": 64 * 3136, "c": 3136, "h": 56, "w": 1}
    assert strides(of, "nhwc") == {"n": 64 * 3136, "c": 1, "h": 56 * 64, "w": 64}
    assert strides(of, "nchwc") == {"n": 64 * 3136, "c_block": 16 * 3136, "h": 56 * 16, "w": 16, "c": 1}


@given(st.tuples(*[st.integers(1, 6)] * 4), st.integers(1, 4))
def test_places_are_those_of_transposed_arrays(extents, block):
    n, c, h, w = extents
    of = Images(batch=n, channels=c, height=h, width=w, dtype=DType.FP32, block=block)
    images = np.arange(n * c * h * w).reshape(extents)
    padded = np.full((n, of.blocks * block, h, w), -1)
    padded[:, :c] = images
    memory = {
        "nchw": images.ravel(),
        "nhwc": images.transpose(0, 2, 3, 1).ravel(),
        "nchwc": padded.reshape(n, of.blocks, block, h, w).transpose(0, 1, 3, 4, 2).ravel(),
    }
    for name, flat in memory.items():
        for point in np.ndindex(*extents):
            assert flat[index(of, name, point)] == images[point]


@pytest.mark.parametrize(
    ("hardware", "dtype", "preferred"),
    [
        ({"gpu": A100}, "fp16", "nhwc"),
        ({"gpu": A100}, "fp32", "nchw"),
        ({"gpu": A100, "framework": "tensorflow"}, "fp32", "nhwc"),
        ({"gpu": synperf.gpu("p100_pcie")}, "fp16", "nchw"),
        ({"cpu": "avx512"}, "fp32", "nchwc"),
        ({"cpu": "neon"}, "fp32", "nhwc"),
    ],
)
def test_the_layout_that_hardware_prefers(hardware, dtype, preferred):
    assert layout(**SMALL, **hardware, dtype=dtype).preferred_layout == preferred


def test_blocks_are_as_wide_as_a_vector():
    assert layout(**SMALL, cpu="avx512", dtype="fp32").images.block == 16
    assert layout(**SMALL, cpu="avx2", dtype="fp32").images.block == 8


def test_few_uses_do_not_pay_for_a_conversion():
    asked = {**SMALL, "gpu": A100, "gain_s": 0.2e-6}
    needed = layout(**asked).conversion.break_even_uses_with_launch
    for uses, convert in ((needed - 1, False), (needed, True)):
        assert layout(**asked, uses=uses).conversion.convert is convert
    assert layout(**asked).conversion.convert is None
    assert layout(**asked, source="nhwc", uses=99).conversion.convert is False


def test_channels_of_a_point_are_side_by_side_in_nhwc_alone():
    found = layout(**SMALL, dtype="fp32", gpu=A100).layouts
    assert (found["nchw"].sectors_of_channels, found["nhwc"].sectors_of_channels) == (32, 4)
    assert (found["nchw"].sectors_of_row, found["nhwc"].sectors_of_row) == (4, 32)


def test_depthwise_layers_win_little():
    found = layout(**SMALL, gpu=A100, depthwise_share=0.7)
    assert any("depthwise layers, 70 %" in one and "little is won" in one for one in found.why)


def test_json_has_the_conversion_beside_the_others():
    asked = ("--batch", "1", "--channels", "64", "--height", "56", "--width", "56", "--gpu", "a100_sxm", "--json")
    found = json.loads(invoke("layout", *asked).out)
    assert found["conversion_bytes"] == 2 * found["size_bytes"]
    assert found["preferred_layout"] == "nhwc"


GIVEN = ("--batch", "1", "--channels", "8", "--height", "4", "--width", "4")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (GIVEN, "gpu: right would be either"),
        ((*GIVEN, "--gpu", "a100_sxm", "--cpu", "avx2"), "gpu: right would be either"),
        ((*GIVEN, "--cpu", "sse9"), "cpu: no cpu named 'sse9'"),
        ((*GIVEN, "--gpu", "h21"), "gpu: no GPU named"),
        ((*GIVEN, "--gpu", "a100_sxm", "--dtype", "nvfp4"), "dtype must have at least one byte"),
        ((*GIVEN, "--gpu", "a100_sxm", "--dtype", "fp8"), "dtype: A100 SXM 80GB has no fp8"),
        ((*GIVEN, "--gpu", "a100_sxm", "--layout", "chwn"), "layout: no layout named 'chwn'"),
        ((*GIVEN, "--gpu", "a100_sxm", "--to", ""), "to: no layout named ''"),
        ((*GIVEN, "--gpu", "a100_sxm", "--block", "0"), "block must be a whole number"),
        ((*GIVEN, "--gpu", "a100_sxm", "--at", "0,8,0,0"), "at: c must be 0 to 7, got 8"),
        ((*GIVEN, "--gpu", "a100_sxm", "--at", "0,0"), "at must be n,c,h,w, got 2 numbers"),
        ((*GIVEN, "--gpu", "a100_sxm", "--at", "a,b,c,d"), "at must be n,c,h,w, such as"),
        ((*GIVEN, "--gpu", "a100_sxm", "--gain", "0s"), "gain must be a time above 0"),
        ((*GIVEN, "--gpu", "a100_sxm", "--gain", "-1us"), "gain must be a time above 0"),
        ((*GIVEN, "--gpu", "a100_sxm", "--gain", "5GB"), "gain: '5GB' is in B"),
        ((*GIVEN, "--gpu", "a100_sxm", "--gain", "1e-300s"), "gain must win the conversion back"),
        ((*GIVEN, "--gpu", "a100_sxm", "--gain", "1us", "--uses", "0"), "uses must be a whole number from 1"),
        ((*GIVEN, "--gpu", "a100_sxm", "--framework", "caffe"), "framework: no framework named 'caffe'"),
        ((*GIVEN, "--gpu", "a100_sxm", "--depthwise-share", "1.5"), "depthwise_share must be 0 to 1"),
        ((*GIVEN, "--gpu", "a100_sxm", "--depthwise-share", "nan"), "depthwise_share must be 0 to 1"),
        (("--batch", "0", *GIVEN[2:], "--gpu", "a100_sxm"), "batch must be a whole number from 1"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("layout", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


def test_a_point_has_four_numbers():
    with pytest.raises(FieldError, match="at must be n,c,h,w"):
        layout(**SMALL, gpu=A100, point=(0, 0, 0))
