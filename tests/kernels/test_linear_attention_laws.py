"""Laws of linear attention on every GPU of the catalog that multiplies its format."""

from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import LinearAttention
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels.linear_attention import FAMILY

from . import laws

NUMBERS = ("batch", "seq_len", "heads", "head_dim", "state_dim", "groups", "chunk", "taps")
GPUS = [key for key in keys() if synperf.DType.FP16 in synperf.gpu(key).dtypes()]

HOPPER_ON = ("9.0", "10.0", "10.3", "12.0")


@st.composite
def calls(draw):
    """A GPU and a call of any phase, variant and kernel."""
    phase, groups = draw(st.sampled_from(["prefill", "decode"])), draw(st.integers(1, 16))
    variant = draw(st.sampled_from(["mamba2", "gdn", "kda"]))
    gpu = synperf.gpu(draw(st.sampled_from(GPUS)))
    kernels = {"prefill": ["chunked", None], "decode": ["recurrent", "recurrent_packed", None]}
    if variant == "kda":
        kernels["prefill"] += ["causal_conv1d_qkv3", *(["flashkda"] if gpu.compute_capability in HOPPER_ON else [])]
        kernels["decode"] += ["kda_fused"]
    named = [*kernels[phase], "causal_conv1d"] if gpu.maker == "nvidia" else [None]
    return gpu, LinearAttention(
        variant=variant,
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


@given(calls())
@settings(max_examples=100)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    for e in (laws.predict(call, gpu), synperf.predict(call, gpu)):
        laws.require_ordered(e)


@given(calls(), st.sampled_from(["batch", "seq_len"]), st.integers(1, 3000))
@settings(max_examples=100)
def test_time_never_falls_when_requests_or_tokens_grow(drawn, name, more):
    gpu, call = drawn
    if call.phase == "decode" and name == "seq_len":
        return
    laws.require_never_less(call, gpu, **{name: getattr(call, name) + more})


@given(calls(), st.sampled_from(laws.RESOURCES), st.floats(1.001, 20))
@settings(max_examples=100)
def test_more_of_any_resource_never_slows_a_call(drawn, field, factor):
    gpu, call = drawn
    laws.require_never_slower(call, gpu, field, factor)


@given(calls())
@settings(max_examples=100)
def test_a_column_of_one_equals_the_single_call(drawn):
    gpu, call = drawn
    laws.require_column_as_call(call, gpu, NUMBERS)


@given(calls())
@settings(max_examples=100)
def test_work_and_inputs_are_positive_and_padding_adds(drawn):
    gpu, call = drawn
    laws.require_all_work(FAMILY, call, gpu)
    assert FAMILY.bound_flop(call) <= features(FAMILY, call, gpu).flop * (1 + 1e-12)
    assert all(0 < value < float("inf") for value in FAMILY.inputs(call, gpu, 1e-5, 0.9).values())
