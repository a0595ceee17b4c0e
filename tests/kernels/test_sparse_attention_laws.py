"""Laws of sparse attention on every GPU of the catalog that multiplies its formats, core and module."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import synperf
from synperf import Mla, SparseAttention, UnsupportedError
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels.sparse_attention import FAMILY
from synperf.kernels.sparse_attention_call import NUMBERS

from . import laws
from .laws import predict

GPUS = [key for key in keys() if synperf.DType.FP16 in synperf.gpu(key).dtypes()]
SIZES = ("batch", "q_len", "kv_len", "heads", "topk", "index_heads", "hidden")
RESOURCES = ("num_sms", "clock_hz", "dram_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "shared_bytes_per_clk_per_sm",
             "xu_op_per_clk_per_sm")  # fmt: skip
KERNELS = (None, "plain", "flashmla_sparse")
length = st.one_of(st.integers(1, 300), st.integers(1, 9000), st.integers(1, 2_000_000))


@st.composite
def calls(draw):
    """A GPU and a call of any engine, core or module, of more or fewer tokens than are selected."""
    gpu, kv_len, kernel = synperf.gpu(draw(st.sampled_from(GPUS))), draw(length), draw(st.sampled_from(KERNELS))
    try:
        call = SparseAttention(
            batch=draw(st.one_of(st.just(1), st.integers(1, 300))),
            q_len=draw(st.one_of(st.just(1), st.just(kv_len), st.integers(1, kv_len))),
            kv_len=kv_len,
            heads=draw(st.one_of(st.sampled_from([1, 16, 128]), st.integers(1, 200))),
            topk=draw(st.one_of(st.just(2048), st.integers(1, 5000))),
            dtype=draw(st.sampled_from(["fp16", "fp8"])),
            indexes=kernel is not None or draw(st.booleans()),
            proj_dtype=None if kernel else draw(st.sampled_from([None, "fp8_block"])),
            engine=draw(st.sampled_from(["plain", "vllm", "sglang", "trtllm"])),
            kernel=kernel,
        )
        predict(call, gpu)
    except UnsupportedError:  # the engine has no such kernel there, or the GPU no such format
        assume(False)
    return gpu, call


@given(calls())
@settings(max_examples=100)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    for e in (laws.predict(call, gpu), synperf.predict(call, gpu)):
        laws.require_ordered(e)


@given(calls(), st.sampled_from(SIZES), st.floats(0, 1))
@settings(max_examples=200)
def test_time_never_falls_when_a_size_grows(drawn, name, how):
    gpu, call = drawn
    size = getattr(call, name)
    larger = size + 1 + int(how * size)
    changes = {name: larger}
    if name == "q_len":
        changes["kv_len"] = max(call.kv_len, larger)
    if name == "topk" and call.kernel is None and call.indexes:
        return  # a larger selection may be all tokens, which nobody scores
    laws.require_never_less(call, gpu, **changes)


@pytest.mark.parametrize("key", ["a100_sxm", "h100_sxm", "b200_sxm", "rtx_pro_6000_server"])
@pytest.mark.parametrize("kernel", [None, "plain"])
def test_time_never_falls_along_a_fine_ladder_of_every_size(key, kernel):
    ladder, given = np.arange(1, 3000), {"dtype": "fp16", "engine": "plain", "kernel": kernel, "topk": 700}
    for call in (
        SparseAttention(batch=8, q_len=1, kv_len=ladder, heads=16, **given),
        SparseAttention(batch=ladder, q_len=1, kv_len=4096, heads=128, **given),
        SparseAttention(batch=8, q_len=1, kv_len=4096, heads=ladder, **given),
        SparseAttention(batch=2, q_len=ladder, kv_len=ladder, heads=16, **given),
        SparseAttention(batch=2, q_len=ladder, kv_len=3000, heads=16, **given),
    ):
        laws.require_rising(call, synperf.gpu(key))


@given(calls())
@settings(max_examples=100)
def test_a_column_of_one_equals_the_single_call(drawn):
    gpu, call = drawn
    laws.require_column_as_call(call, gpu, NUMBERS)


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=120)
def test_more_of_any_resource_never_slows_a_call(drawn, field, factor):
    gpu, call = drawn
    laws.require_never_slower(call, gpu, field, factor)


@given(calls())
@settings(max_examples=100)
def test_work_and_inputs_are_positive_and_padding_adds(drawn):
    gpu, call = drawn
    laws.require_all_work(FAMILY, call, gpu)
    assert FAMILY.bound_flop(call) <= features(FAMILY, call, gpu).flop * (1 + 1e-12)
    assert all(0 < value < float("inf") for value in FAMILY.inputs(call, gpu, 1e-5, 0.9).values())


@given(st.sampled_from(GPUS), st.integers(1, 5000), st.integers(1, 300), st.integers(1, 200))
@settings(max_examples=100)
def test_where_all_tokens_are_selected_a_decode_step_is_that_of_absorbed_mla(key, kv_len, batch, heads):
    gpu, given = synperf.gpu(key), {"batch": batch, "q_len": 1, "kv_len": kv_len, "heads": heads, "dtype": "fp16"}
    dense = Mla(**given, engine="plain", kernel="plain")
    sparse = SparseAttention(**given, engine="plain", kernel="plain", topk=kv_len)
    for name in ("time_s", "floor_s"):
        assert getattr(predict(sparse, gpu), name) == pytest.approx(getattr(predict(dense, gpu), name), rel=1e-12)


@given(calls())
@settings(max_examples=60)
def test_a_smaller_selection_is_never_more_flop_than_all(drawn):
    _, call = drawn
    dense = replace(call, topk=call.kv_len)
    if call.kernel is not None:
        assert FAMILY.flop(call) <= FAMILY.flop(dense) * (1 + 1e-12)
        absorbed = Mla(batch=call.batch, q_len=call.q_len, kv_len=call.kv_len, heads=call.heads, absorbed=True)
        assert FAMILY.flop(dense) == pytest.approx(synperf.kernels.family("mla").flop(absorbed), rel=1e-12)


def test_extreme_lengths_are_answered():
    for kernel in (None, "plain"):
        call = SparseAttention(batch=2**31 - 1, q_len=2**31 - 1, kv_len=2**31 - 1, heads=2**31 - 1, kernel=kernel)
        assert 0 < predict(call, "h100_sxm").time_s < float("inf")
