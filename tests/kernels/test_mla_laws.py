"""Laws of MLA on every catalog GPU, on random shapes, core and module, absorbed or not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import synperf
from synperf import Mla, UnsupportedError
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.attention_call import MATH

from . import laws
from .laws import predict

FAMILY = family("mla")
length = st.one_of(st.integers(1, 300), st.integers(1, 9000), st.integers(1, 2_000_000))
RESOURCES = ("num_sms", "clock_hz", "dram_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "shared_bytes_per_clk_per_sm",
             "xu_op_per_clk_per_sm")  # fmt: skip
ENGINES = ("plain", "vllm", "sglang", "trtllm")
SIZES = ("batch", "q_len", "kv_len", "heads")


@st.composite
def calls(draw):
    gpu = synperf.gpu(draw(st.sampled_from(keys())))
    engine, kv_len = draw(st.sampled_from(ENGINES)), draw(length)
    dtype = draw(st.sampled_from([d for d in gpu.dtypes() if d in MATH]))
    try:
        call = Mla(
            batch=draw(st.one_of(st.just(1), st.integers(1, 300))),
            q_len=draw(st.one_of(st.just(1), st.just(kv_len), st.integers(1, kv_len))),
            kv_len=kv_len,
            heads=draw(st.one_of(st.sampled_from([1, 16, 128]), st.integers(1, 200))),
            dtype=dtype,
            absorbed=draw(st.booleans()),
            proj_dtype=draw(st.sampled_from([None, None if dtype == "fp8" else dtype, "fp8_block"])),
            engine=engine,
        )
        predict(call, gpu)
    except (synperf.FieldError, UnsupportedError):  # the engine has no such kernel or module, or not in that format
        assume(False)
    return gpu, call


@given(calls())
@settings(max_examples=100)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    laws.require_ordered(predict(call, gpu))


@given(calls(), st.sampled_from(SIZES), st.floats(0, 1))
@settings(max_examples=200)
def test_time_never_falls_when_a_size_grows(drawn, name, how):
    gpu, call = drawn
    size = getattr(call, name)
    larger = size + 1 + int(how * size)
    changes = {name: larger}
    if name == "q_len":
        changes["kv_len"] = max(call.kv_len, larger)
    laws.require_never_less(call, gpu, **changes)


@pytest.mark.parametrize("key", ["a100_sxm", "h100_sxm", "b200_sxm", "rtx_pro_6000_server", "p100_pcie"])
@pytest.mark.parametrize("module", [False, True])
def test_time_never_falls_along_a_fine_ladder_of_every_size(key, module):
    gpu = synperf.gpu(key)
    dtype = "fp16" if gpu.cc >= (7, 0) else "fp32"
    ladder = np.arange(1, 2000)
    given = {"dtype": dtype, "engine": "plain", "proj_dtype": dtype if module else None}
    for kind in (
        Mla(batch=8, q_len=1, kv_len=ladder, heads=16, absorbed=True, **given),
        Mla(batch=ladder, q_len=1, kv_len=4096, heads=128, absorbed=True, **given),
        Mla(batch=8, q_len=1, kv_len=4096, heads=ladder, absorbed=True, **given),
        Mla(batch=2, q_len=ladder, kv_len=ladder, heads=16, absorbed=True, **given),
        Mla(q_len=ladder, kv_len=ladder, heads=16, absorbed=False, **given),
        Mla(batch=ladder, q_len=300, kv_len=500, heads=8, absorbed=False, **given),
        Mla(q_len=300, kv_len=500, heads=ladder, absorbed=False, **given),
    ):
        laws.require_rising(kind, gpu)


@given(calls())
@settings(max_examples=100)
def test_a_batch_of_one_equals_the_scalar(drawn):
    gpu, call = drawn
    laws.require_column_as_call(call, gpu, (*SIZES, "kv_lora_rank", "rope_dim"))


@given(calls())
@settings(max_examples=100)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    laws.require_all_work(FAMILY, call, gpu)


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=120)
def test_more_of_any_resource_never_slows_a_kernel(drawn, field, factor):
    gpu, call = drawn
    laws.require_never_slower(call, gpu, field, factor)


@given(calls())
@settings(max_examples=60)
def test_a_module_never_takes_less_than_its_core(drawn):
    gpu, call = drawn
    wide = "bf16" if call.dtype == "fp8" else call.dtype
    core = replace(call, engine="plain", kernel="plain", proj_dtype=None)
    whole = features(FAMILY, replace(core, kernel="plain_module", proj_dtype=wide), gpu)
    for name, demand in features(FAMILY, core, gpu).pipes.items():
        if name != "dram":  # of a module, what passes from launch to launch may stay in L2
            assert whole.pipes[name].sm_max_s >= demand.sm_max_s * (1 - 1e-12)


def test_extreme_lengths_are_answered():
    for module in (None, "bf16"):
        call = Mla(batch=2**31 - 1, q_len=2**31 - 1, kv_len=2**31 - 1, heads=2**31 - 1, proj_dtype=module)
        assert 0 < predict(call, "h100_sxm").time_s < float("inf")
