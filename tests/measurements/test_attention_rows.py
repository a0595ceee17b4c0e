"""Attention in aiconfigurator-core: every rule on a tree of a few rows."""

from zlib import crc32

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.measurements import aiconfigurator

from .tree import put

FIELDS = ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "window", "dtype", "kv_dtype", "causal")
ROW = {
    "batch_size": 4, "isl": 512, "step": 0, "num_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "window_size": 0, "attn_dtype": "bfloat16", "kv_cache_dtype": "bfloat16", "latency": 0.05,
    "kernel_source": "torch_flow",
}  # fmt: skip
TOKEN = ROW | {"isl": 1, "step": 511}
ENCODER = {
    "batch_size": 2, "isl": 1500, "num_heads": 16, "head_dim": 80, "attn_dtype": "bfloat16", "latency": 0.05,
    "kernel_source": "flash_attention_v3",
}  # fmt: skip
OVER_FP8 = {"kv_cache_dtype": "fp8"}
CONTEXT, GENERATION = "attention/context_attention", "attention/generation_attention"


def context(root, *rows, gpu="h100_sxm", framework="TRTLLM", version="1.3.0rc20"):
    put(root, gpu, framework, version, [ROW | row for row in rows], CONTEXT)
    return aiconfigurator.read(gpu, "attention", root)


def dropped(root):
    files = aiconfigurator.audit("attention", root)
    return {reason: count for file in files for reason, count in file.dropped.items()}


def calls(rows):
    return [tuple(rows.column(name)[i] for name in FIELDS) for i in range(len(rows))]


def test_prefill_is_causal_attention_of_a_prompt_over_itself(tmp_path):
    rows = context(tmp_path, {})
    assert calls(rows) == [(4, 512, 512, 32, 8, 128, 0, "bf16", "bf16", True)]
    assert (rows.engine[0], rows.version[0], rows.kernel[0], rows.family[0]) == (
        "trtllm", "1.3.0rc20", "trtllm", "attention",
    )  # fmt: skip
    assert rows.time_s[0] == pytest.approx(50e-6)


def test_decode_is_one_token_over_the_history_and_itself(tmp_path):
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", [TOKEN], GENERATION)
    rows = aiconfigurator.read("h100_sxm", "attention", tmp_path)
    assert calls(rows) == [(4, 1, 512, 32, 8, 128, 0, "bf16", "bf16", True)]


def test_an_encoder_sees_all_its_keys(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [ENCODER], "encoder_attention/encoder_attention")
    rows = aiconfigurator.read("h100_sxm", "attention", tmp_path)
    assert calls(rows) == [(2, 1500, 1500, 16, 16, 80, 0, "bf16", "bf16", False)]
    assert rows.is_test[0] == (crc32(b"16xx80") % 5 == 0)


def test_all_three_are_one_family(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [ENCODER], "encoder_attention/encoder_attention")
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", [TOKEN], GENERATION)
    rows = context(tmp_path, {})
    assert sorted(rows.column("q_len").tolist()) == [1, 512, 1500]
    assert rows.labels() == ("family", "engine", "kernel", "dtype", "kv_dtype", "causal")


@pytest.mark.parametrize("window", [0, None])
def test_no_window_is_zero(tmp_path, window):
    rows = context(tmp_path, {"window_size": 128}, {"window_size": window, "batch_size": 5})
    assert sorted(rows.column("window").tolist()) == [0, 128]


def test_older_files_have_no_window_column(tmp_path):
    old = {name: value for name, value in ROW.items() if name != "window_size"} | {"kernel_source": "vllm_flash_attn"}
    put(tmp_path, "a100_sxm", "VLLM", "0.14.0", [old], CONTEXT)
    rows = aiconfigurator.read("a100_sxm", "attention", tmp_path)
    assert (rows.column("window")[0], rows.kernel[0]) == (0, "fa2")


@pytest.mark.parametrize("stored", [0, None])
def test_kv_heads_that_are_zero_or_missing_are_those_of_the_queries_and_the_split_has_them_as_stored(tmp_path, stored):
    rows = context(tmp_path, {}, {"num_key_value_heads": stored, "batch_size": 5})
    assert rows.column("kv_heads").tolist() == [8, 32]
    key = f"32x{'' if stored is None else stored}x128"
    assert rows.is_test.tolist() == [crc32(b"32x8x128") % 5 == 0, crc32(key.encode()) % 5 == 0]


def test_whole_head_configurations_are_held_out(tmp_path):
    rows = context(tmp_path, *({"num_heads": heads, "isl": isl} for heads in range(8, 88, 8) for isl in (64, 128)))
    expected = [crc32(f"{heads}x8x128".encode()) % 5 == 0 for heads in rows.column("heads")]
    assert rows.is_test.tolist() == expected
    assert 0 < rows.is_test.mean() < 1


@pytest.mark.parametrize("gpu", ["h100_sxm", "b200_sxm"])
def test_trtllm_computes_in_fp8_over_an_fp8_cache(tmp_path, gpu):
    rows = context(tmp_path, {}, OVER_FP8, {"attn_dtype": "fp8"} | OVER_FP8, gpu=gpu)
    found = zip(rows.column("dtype"), rows.column("kv_dtype"), rows.samples.tolist(), strict=True)
    assert list(found) == [("bf16", "bf16", 1), ("fp8", "fp8", 2)]


def test_trtllm_does_not_on_the_l40s(tmp_path):
    rows = context(tmp_path, OVER_FP8, gpu="l40s")
    assert (rows.column("dtype")[0], rows.column("kv_dtype")[0]) == ("bf16", "fp8")


@pytest.mark.parametrize(
    ("gpu", "kernel_source", "dtype"),
    [
        ("b200_sxm", "vllm_flashinfer_trtllmprefill", "fp8"),
        ("b200_sxm", "vllm_flashinfer_trtllmdecode", "fp8"),
        ("b200_sxm", "vllm_triton_attn", "bf16"),  # no row tells that it does
        ("h100_sxm", "vllm_flash_attn_fa3", "bf16"),
    ],
)
def test_vllm_computes_in_fp8_over_an_fp8_cache_on_blackwell(tmp_path, gpu, kernel_source, dtype):
    rows = context(tmp_path, {"kernel_source": kernel_source} | OVER_FP8, gpu=gpu, framework="VLLM", version="0.24.0")
    assert (rows.column("dtype")[0], rows.column("kv_dtype")[0]) == (dtype, "fp8")


def test_sglang_says_itself_what_it_computes_in(tmp_path):
    rows = context(tmp_path, {"kernel_source": "fa3"} | OVER_FP8, framework="SGLang", version="0.5.14")
    assert rows.column("dtype")[0] == "bf16"


def test_decode_of_trtllm_1_0_0_on_the_a100_is_dropped_and_its_prefill_is_not(tmp_path):
    put(tmp_path, "a100_sxm", "TRTLLM", "1.0.0", [TOKEN, TOKEN | {"step": 1}], GENERATION)
    assert len(context(tmp_path, {}, gpu="a100_sxm", version="1.0.0")) == 1
    assert dropped(tmp_path) == {
        "decode with grouped heads at 1.33 times the DRAM bandwidth: part of the cache was not read": 2
    }


def test_intel_is_out_of_scope(tmp_path):
    put(tmp_path, "b60", "VLLM", "0.26.0", [ROW | {"kernel_source": "vllm_flash_attn"}], CONTEXT)
    assert dropped(tmp_path) == {"Intel GPU: out of scope": 1}


@pytest.mark.parametrize(
    ("kernel_source", "kernel"),
    [
        ("vllm_flash_attn_fa2", "fa2"),
        ("flash_attention", "fa2"),
        ("fa3", "fa3"),
        ("vllm_flash_attn_fa3", "fa3"),
        ("vllm_flash_attn_fa4", "fa4"),
        ("flashinfer", "flashinfer"),
        ("vllm_flashinfer_fiprefill", "flashinfer"),
        ("torch_flow_flashinfer", "flashinfer"),
        ("trtllm_mha", "trtllm_gen"),
        ("vllm_flashinfer_trtllmdecode", "trtllm_gen"),
        ("triton", "triton"),
        ("vllm_triton_attn", "triton"),
        ("torch_flow", "trtllm"),
    ],
)
def test_sources_have_canonical_kernels(tmp_path, kernel_source, kernel):
    rows = context(tmp_path, {"kernel_source": kernel_source})
    assert (rows.kernel[0], rows.kernel_source[0]) == (kernel, kernel_source)
