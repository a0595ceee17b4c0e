"""Work of attention on every pipe, worked out by hand on a toy GPU; the dispatch of engines; inputs of a network."""

from dataclasses import replace

import numpy as np
import pytest

import synperf
from synperf import Attention, DType
from synperf.estimators.inputs import inputs, sustained
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.attention_call import MATH
from synperf.kernels.dispatch import resolve
from synperf.report import explanations
from tests.toys import TOY

ATTENTION = family("attention")
ONE = Attention(batch=10, q_len=128, kv_len=64, heads=1, head_dim=128, causal=False, engine="plain")  # a step per SM


def test_one_step_of_the_toy():
    f = features(ATTENTION, ONE, TOY)
    assert (f.load.tasks, f.load.sm_max_tasks, f.padding) == (10, 1, 1)
    per_sm = {"tensor": 4 * 128 * 64 * 128 / 1000, "xu": 128 * 64 / 10}
    per_sm["fma"] = (7 * 128 * 64 + 2 * 128 * 128) / 100
    per_sm["shared"] = ((1 + 4) * 64 * 256 + 128 * 128) * 2 / 100  # four warps read K and V, and Q once
    for name, clocks in per_sm.items():
        assert f.pipes[name].sm_max_s == pytest.approx(clocks * 1e-9)
        assert f.pipes[name].gpu_s == f.pipes[name].sm_max_s
    moved = 10 * (128 * 128 + 2 * 64 * 128 + 128 * 128) * 2
    assert f.pipes["l2"].gpu_s == pytest.approx(moved / 1e13)
    assert f.pipes["dram"].gpu_s == pytest.approx(moved / 1e12)
    assert f.fill_s == 2000e-9


def test_a_cache_in_fewer_bits_moves_less_and_is_widened_on_the_fma_pipe():
    wide, narrow = (features(ATTENTION, replace(ONE, kv_dtype=kv), TOY) for kv in (DType.BF16, DType.FP8))
    assert narrow.pipes["dram"].gpu_s < wide.pipes["dram"].gpu_s
    assert narrow.pipes["fma"].gpu_s - wide.pipes["fma"].gpu_s == pytest.approx(2 * 64 * 256 / 100 * 1e-9)
    assert narrow.pipes["tensor"].gpu_s == wide.pipes["tensor"].gpu_s


def test_fp8_math_halves_the_time_of_the_tensor_pipe():
    gpu, given = synperf.gpu("h100_sxm"), {"batch": 8, "q_len": 8192, "kv_len": 8192, "heads": 16, "head_dim": 128}
    bf16, fp8 = (features(ATTENTION, Attention(dtype=d, **given), gpu).pipes["tensor"].gpu_s for d in ("bf16", "fp8"))
    assert fp8 / bf16 == pytest.approx(0.5, rel=0.05)  # up to the padding of other tiles


@pytest.mark.parametrize(
    ("engine", "dtype", "capability", "kernel"),
    [("vllm", "bf16", "9.0", "fa3"), ("vllm", "fp8", "10.0", "trtllm_gen"), ("vllm", "bf16", "8.9", "fa2"),
     ("vllm", "fp16", "7.5", "triton"), ("vllm", "fp8", "8.9", "triton"), ("sglang", "bf16", "9.0", "fa3"),
     ("sglang", "bf16", "12.0", "flashinfer"), ("sglang", "bf16", "8.0", "fa2"), ("trtllm", "bf16", "9.0", "trtllm"),
     ("torch", "fp16", "8.0", "fa2"), ("flashinfer", "bf16", "9.0", "flashinfer"), (None, "bf16", "10.0", "trtllm_gen"),
     ("plain", "fp32", "6.0", "plain")],
)  # fmt: skip
def test_what_each_engine_dispatches(engine, dtype, capability, kernel):
    assert resolve("attention", DType(dtype), capability, engine, None) == (engine or "vllm", kernel)


@pytest.mark.parametrize("name", ["vllm_flash_attn_fa3", "fa3"])
def test_a_tables_own_kernel_source_is_a_name_of_the_kernel(name):
    call = Attention(q_len=1, kv_len=9, heads=1, head_dim=64, engine="sglang", kernel=name)
    assert synperf.predict(call, "h100_sxm", origin="analytical").kernel == "fa3"


def named(call, gpu, kernel="plain"):
    f = features(ATTENTION, call, gpu)
    return inputs(ATTENTION, call, gpu, f, sustained(gpu, "attention", kernel, call.dtype))[1]


@pytest.mark.parametrize("key", keys())
def test_inputs_of_a_network_are_positive_and_finite(key):
    gpu = synperf.gpu(key)
    rng = np.random.default_rng(1)
    kv_len = rng.integers(1, 100_000, 200)
    q_len = np.where(rng.random(200) < 0.5, 1, kv_len)
    for dtype in [d for d in gpu.dtypes() if d in MATH]:
        call = Attention(
            batch=rng.integers(1, 300, 200), q_len=q_len, kv_len=kv_len, heads=16, kv_heads=rng.choice([1, 4, 16], 200),
            head_dim=rng.choice([64, 128, 256], 200), window=rng.choice([0, 1, 1024], 200), dtype=dtype, engine="plain",
        )  # fmt: skip
        for name, value in named(call, gpu).items():
            assert value.shape == (200,), name
            assert (np.isfinite(value) & (value > 0)).all(), name


def test_inputs_of_one_call_equal_those_of_a_column():
    gpu, one = synperf.gpu("h100_sxm"), Attention(batch=3, q_len=100, kv_len=500, heads=8, kv_heads=2, head_dim=64)
    column = replace(one, batch=np.array([3.0]))
    single, many = named(one, gpu), named(column, gpu)
    assert {name: float(value[0]) for name, value in many.items()} == single
    mixed = named(Attention(q_lens=[1, 100], kv_lens=[9, 500], heads=8, kv_heads=2, head_dim=64), gpu)
    assert mixed.keys() == single.keys()
    assert all(isinstance(value, float) and value > 0 for value in mixed.values())


def test_the_explanation_tells_steps_imbalance_and_split():
    call = Attention(batch=2, q_len=1, kv_len=100_000, heads=8, kv_heads=8, head_dim=128)
    text = explanations.to_text(synperf.explain(call, "h100_sxm", origin="analytical"))
    assert "steps       12,512 over tiles of keys; 782 of the mean tile, 782 of the longest" in text
    assert "split       each tile in 8 parts of up to 12,544 keys, added up by a second launch" in text
    document = synperf.explain(call, "h100_sxm", origin="analytical").to_dict()
    assert document["imbalance"] == pytest.approx(1.0)
    assert {"tensor", "xu"} <= document["pipes"].keys()
