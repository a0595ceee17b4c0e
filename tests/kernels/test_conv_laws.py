"""Laws of convolutions on every GPU of the catalog that multiplies their format."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import Conv
from synperf.hardware import keys
from synperf.kernels.conv import FAMILY

from . import laws

GROWING = ("batch", "height", "width")
NUMBERS = (
    "batch", "in_channels", "out_channels", "height", "width", "kernel_h", "kernel_w", "stride", "padding", "dilation",
    "groups",
)  # fmt: skip


@st.composite
def calls(draw):
    """A GPU and a call of a format that it multiplies."""
    gpu = synperf.gpu(draw(st.sampled_from(keys())))
    formats = [d for d in ("fp32", "tf32", "fp16", "bf16") if synperf.DType(d) in gpu.dtypes()]
    groups = draw(st.sampled_from([1, 1, 2, 3, 32]))
    kernels = [draw(st.integers(1, 7)) for _ in range(2)]
    dilation = draw(st.integers(1, 3))
    least = dilation * (max(kernels) - 1) + 1
    return gpu, Conv(
        batch=draw(st.integers(1, 128)),
        in_channels=groups * draw(st.integers(1, 300)),
        out_channels=groups * draw(st.integers(1, 300)),
        height=draw(st.integers(least, 300)),
        width=draw(st.integers(least, 300)),
        kernel_h=kernels[0],
        kernel_w=kernels[1],
        stride=draw(st.integers(1, 4)),
        padding=draw(st.integers(0, 3)),
        dilation=dilation,
        groups=groups,
        dtype=draw(st.sampled_from(formats)),
        layout=draw(st.sampled_from(["nchw", "nhwc"])),
    )


@given(calls())
@settings(max_examples=200)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    for e in (laws.predict(call, gpu), synperf.predict(call, gpu)):
        laws.require_ordered(e)
    assert laws.predict(call, gpu).efficiency <= 1 + 1e-12


@given(calls(), st.sampled_from(GROWING), st.integers(1, 50))
@settings(max_examples=300)
def test_time_never_falls_when_batch_or_images_grow(drawn, name, more):
    """Images that need no transposition, whose loads are as wide as its rows are aligned."""
    gpu, call = drawn
    call = replace(call, layout="nhwc")
    laws.require_never_less(call, gpu, **{name: getattr(call, name) + more})


@given(calls(), st.integers(1, 50))
@settings(max_examples=300)
def test_time_never_falls_when_channels_grow_in_one_group(drawn, more):
    gpu, call = drawn
    call = replace(call, groups=1)
    for name in ("in_channels", "out_channels"):
        laws.require_never_less(call, gpu, **{name: getattr(call, name) + more})


@given(calls(), st.sampled_from(laws.RESOURCES), st.floats(1.001, 20))
@settings(max_examples=200)
def test_more_of_any_resource_never_slows_a_convolution(drawn, field, factor):
    gpu, call = drawn
    laws.require_never_slower(call, gpu, field, factor)


@given(calls())
@settings(max_examples=200)
def test_a_column_of_one_equals_the_single_call(drawn):
    gpu, call = drawn
    laws.require_column_as_call(call, gpu, NUMBERS)


@given(st.lists(calls(), min_size=2, max_size=6))
@settings(max_examples=100)
def test_columns_of_both_kernels_equal_the_single_calls(drawn):
    gpu, first = drawn[0]
    alike = [replace(call, dtype=first.dtype, layout=first.layout) for _, call in drawn]
    alike.append(replace(first, in_channels=32, out_channels=32, groups=32))
    columns = {name: [getattr(call, name) for call in alike] for name in NUMBERS}
    many = laws.predict(replace(first, **columns), gpu)
    for i, call in enumerate(alike):
        assert many.time_s[i] == laws.predict(call, gpu).time_s


@given(calls())
@settings(max_examples=200)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    laws.require_all_work(FAMILY, call, gpu)
    assert FAMILY.compulsory_bytes(call) >= call.dtype.bytes * (call.batch + call.out_channels)


@given(calls())
@settings(max_examples=200)
def test_what_a_network_sees_is_positive_and_the_same_in_columns(drawn):
    gpu, call = drawn
    one = FAMILY.inputs(call, gpu, 1e-5, 0.9)
    many = FAMILY.inputs(replace(call, batch=np.array([call.batch])), gpu, 1e-5, 0.9)
    for name, value in one.items():
        assert 0 < value < float("inf"), name
        assert float(np.max(many[name])) == pytest.approx(value, rel=1e-12), name
    assert set(FAMILY.stepped) <= {*one, "math_over_dram", "tasks_per_sm"}


@pytest.mark.parametrize("key", keys())
def test_every_gpu_convolves(key):
    with suppress(synperf.UnsupportedError):
        assert synperf.predict(FAMILY.example, key).time_s > 0
    assert synperf.predict(replace(FAMILY.example, dtype="fp32"), key).time_s > 0
