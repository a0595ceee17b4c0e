"""Vidur's projections and attention: shapes of one rank's shard."""

from zlib import crc32

import numpy as np
import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf import hardware
from synperf.errors import FileFormatError
from synperf.kernels import gemm
from synperf.measurements import audit_file, read_file

from .shared import shared

OPERATIONS = ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj")
LAYER = {  # Llama-2-70B, a quarter of it
    "gpu": "a100", "model": "some", "n_head": 64, "n_kv_head": 8, "n_embd": 8192, "n_expanded_embd": 28672,
    "use_gated_mlp": True, "num_tokens": 16, "num_tensor_parallel_workers": 4,
}  # fmt: skip


def put(tmp_path, *rows, times=(1.0, 2.0, 3.0, 4.0)):
    measured = {f"{name}_median_ms": time for name, time in zip(OPERATIONS, times, strict=True)}
    frame = pl.DataFrame([LAYER | measured | row for row in rows])
    frame.with_columns(pl.col("^.*_ms$").cast(pl.Float32)).write_parquet(tmp_path / "mlp.parquet")
    return tmp_path / "mlp.parquet"


def shapes(rows):
    return sorted(zip(rows.column("m").tolist(), rows.column("n").tolist(), rows.column("k").tolist(), strict=True))


def test_a_row_is_four_products_of_one_rank(tmp_path):
    rows = read_file(put(tmp_path, {}))
    assert shapes(rows) == sorted([(16, 2560, 8192), (16, 8192, 2048), (16, 14336, 8192), (16, 8192, 7168)])
    by_shape = dict(zip(rows.column("n").tolist(), rows.time_s.tolist(), strict=True))
    assert (by_shape[2560], by_shape[14336]) == (pytest.approx(1e-3), pytest.approx(3e-3))


def test_a_mlp_without_a_gate_has_half_the_outputs(tmp_path):
    assert (16, 7168, 8192) in shapes(read_file(put(tmp_path, {"use_gated_mlp": False})))


def test_rows_are_fp16_layers_of_an_older_vllm(tmp_path):
    rows = read_file(put(tmp_path, {}))
    names = ("gpu", "engine", "version", "kernel", "kernel_source", "dtype")
    expected = ["a100_sxm", "vllm", "unknown", "vllm_legacy", "vidur_linear", "fp16"]
    assert [rows.column(name)[0] for name in names] == expected
    assert rows.call().kernel == "vllm_legacy"


def test_one_shape_of_two_layers_is_one_row(tmp_path):
    square = {"n_expanded_embd": 8192, "num_tokens": 3}  # the projections after attention and down are one product
    rows = read_file(put(tmp_path, square, times=(1.0, 2.0, 3.0, 4.0)))
    assert (len(rows), sorted(rows.samples)) == (3, [1, 1, 2])
    assert rows.time_s[rows.samples == 2] == pytest.approx(3e-3)


def test_the_split_is_the_crc_of_the_call(tmp_path):
    rows = read_file(put(tmp_path, *({"num_tokens": m} for m in range(1, 40))))
    calls = zip(*(rows.column(name).tolist() for name in ("m", "n", "k", "batch", "dtype")), strict=True)
    expected = [crc32("x".join(map(str, call)).encode()) % 5 == 0 for call in calls]
    assert rows.is_test.tolist() == expected
    assert any(expected)


def test_shards_that_are_uneven_are_dropped(tmp_path):
    (file,) = audit_file(put(tmp_path, {"n_expanded_embd": 28670}))
    assert (file.rows, file.kept) == (4, 3)
    assert dict(file.dropped) == {"a size is missing, or no whole number from 1 to 2147483647": 1}


def test_every_projection_of_the_file_is_used():
    path = shared("vidur_mlp.parquet")
    kept = {file.gpu: (file.rows, file.kept, file.keys) for file in audit_file(path)}
    assert kept == {
        "a100_sxm": (29_220, 29_220, 23_274),
        "a40": (17_748, 17_748, 13_727),
        "h100_sxm": (13_572, 13_572, 13_468),
    }
    assert 0.18 < read_file(path).is_test.mean() < 0.21


def test_large_products_of_the_file_run_at_half_to_all_of_the_peak():
    for (gpu,), part in read_file(shared("vidur_mlp.parquet")).groups("gpu"):
        large = part.take((part.column("m") >= 2048) & (part.column("n") >= 8192))
        share = gemm.flop(large.call()) / large.time_s / hardware.gpu(gpu).peak_flop_per_s(large.call().dtype)
        assert 0.5 < np.quantile(share, 0.01) < np.quantile(share, 0.99) < 1.0


ATTENTION = {
    "gpu": "a100", "n_embd": 8192, "n_q_head": 64, "n_kv_head": 8, "num_tensor_parallel_workers": 2, "batch_size": 1,
    "prefill_chunk_size": 256, "kv_cache_size": 1024, "is_prefill": True, "attn_prefill_median_ms": 0.5,
    "attn_decode_median_ms": None,
}  # fmt: skip
TOKENS = {
    "batch_size": 16, "prefill_chunk_size": 0, "is_prefill": False, "attn_prefill_median_ms": None,
    "attn_decode_median_ms": 0.25,
}  # fmt: skip


def attention(tmp_path, *rows):
    frame = pl.DataFrame([ATTENTION | row for row in rows], infer_schema_length=None)
    frame.with_columns(pl.col("^.*_ms$").cast(pl.Float32)).write_parquet(tmp_path / "attention.parquet")
    return read_file(tmp_path / "attention.parquet", "attention")


def test_a_chunk_of_a_prompt_sees_the_context_before_it_and_a_token_of_decode_its_history(tmp_path):
    rows = attention(tmp_path, {}, TOKENS)
    names = ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "window")
    calls = [tuple(int(rows.column(name)[i]) for name in names) for i in range(2)]
    assert calls == [(1, 256, 1280, 32, 4, 128, 0), (16, 1, 1025, 32, 4, 128, 0)]
    assert rows.time_s.tolist() == pytest.approx([0.5e-3, 0.25e-3])


def test_attention_is_fp16_of_an_older_vllm_and_causal(tmp_path):
    rows = attention(tmp_path, {})
    names = ("gpu", "engine", "kernel", "kernel_source", "dtype", "kv_dtype", "causal")
    expected = ["a100_sxm", "vllm", "vllm_legacy", "vidur_attention", "fp16", "fp16", True]
    assert [rows.column(name)[0] for name in names] == expected


def test_attention_is_held_out_by_the_fields_of_its_call(tmp_path):
    rows = attention(tmp_path, *({"kv_cache_size": size} for size in range(100)))
    keys = [f"1x256x{kv_len}x32x4x128xtruex0xfp16xfp16" for kv_len in rows.column("kv_len")]
    assert rows.is_test.tolist() == [crc32(key.encode()) % 5 == 0 for key in keys]


def test_every_row_of_attention_is_used():
    path = shared("vidur_attention.parquet")
    (audit,) = audit_file(path, "attention")
    assert (audit.rows, audit.kept, audit.keys) == (14_658, 14_658, 14_318)
    assert 0.19 < read_file(path, "attention").is_test.mean() < 0.21


def test_a_family_that_no_layer_has_is_refused_with_those_that_it_has(tmp_path):
    path = put(tmp_path, LAYER)
    with pytest.raises(FileFormatError, match=r": no layernorm is read from such a table; right would be .*gemm"):
        read_file(path, "layernorm")
