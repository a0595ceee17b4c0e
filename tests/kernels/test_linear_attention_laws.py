"""Laws of linear attention on every GPU of the catalog that multiplies its format."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import LinearAttention
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels.linear_attention import FAMILY

NUMBERS = ("batch", "seq_len", "heads", "head_dim", "state_dim", "groups", "chunk", "taps")
COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")
RESOURCES = ("dram_bytes_per_s", "l2_bytes_per_s", "num_sms", "clock_hz")
GPUS = [key for key in keys() if synperf.DType.FP16 in synperf.gpu(key).dtypes()]


@st.composite
def calls(draw):
    """A GPU and a call of any phase, variant and kernel."""
    phase, groups = draw(st.sampled_from(["prefill", "decode"])), draw(st.integers(1, 16))
    kernels = {"prefill": ["chunked", "flashinfer", None], "decode": ["recurrent", "recurrent_packed", None]}
    gpu = synperf.gpu(draw(st.sampled_from(GPUS)))
    named = [*kernels[phase], "causal_conv1d"] if gpu.maker == "nvidia" else [None]
    return gpu, LinearAttention(
        variant=draw(st.sampled_from(["mamba2", "gdn"])),
        batch=draw(st.integers(1, 2000)),
        seq_len=1 if phase == "decode" else draw(st.integers(1, 40_000)),
        heads=groups * draw(st.integers(1, 8)),
        head_dim=draw(st.integers(1, 256)),
        state_dim=draw(st.integers(1, 256)),
        groups=groups,
        chunk=draw(st.sampled_from([None, 64, 128, 256])),
        phase=phase,
        dtype="fp16",
        kernel=draw(st.sampled_from(named)),
    )


def _predict(call, gpu):
    return synperf.predict(call, gpu, origin="analytical")


@given(calls())
@settings(max_examples=100)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    for e in (_predict(call, gpu), synperf.predict(call, gpu)):
        assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < float("inf")


@given(calls(), st.sampled_from(["batch", "seq_len"]), st.integers(1, 3000))
@settings(max_examples=100)
def test_time_never_falls_when_requests_or_tokens_grow(drawn, name, more):
    gpu, call = drawn
    if call.phase == "decode" and name == "seq_len":
        return
    larger = replace(call, **{name: getattr(call, name) + more})
    assert _predict(larger, gpu).time_s >= _predict(call, gpu).time_s * (1 - 1e-12)


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=100)
def test_more_of_any_resource_never_slows_a_call(drawn, field, factor):
    gpu, call = drawn
    more = synperf.what_if(gpu, [f"{field}={factor}x"])
    assert _predict(call, more).time_s <= _predict(call, gpu).time_s * (1 + 1e-12)


@given(calls())
@settings(max_examples=100)
def test_a_column_of_one_equals_the_single_call(drawn):
    gpu, call = drawn
    many = _predict(replace(call, **{name: np.array([getattr(call, name)]) for name in NUMBERS}), gpu)
    one = _predict(call, gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


@given(calls())
@settings(max_examples=100)
def test_work_and_inputs_are_positive_and_padding_adds(drawn):
    gpu, call = drawn
    f = features(FAMILY, call, gpu)
    assert 0 < f.padding <= 1 + 1e-9
    assert f.dram_bytes >= f.compulsory_bytes
    assert FAMILY.bound_flop(call) <= f.flop * (1 + 1e-12)
    assert all(0 < value < float("inf") for value in FAMILY.inputs(call, gpu, 1e-5, 0.9).values())
