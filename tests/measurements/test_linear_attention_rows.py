"""Rows of linear attention: which calls they are, and which are dropped."""

from zlib import crc32

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.measurements import aiconfigurator

from .tree import put

GDN = {
    "kernel_source": "chunk_gated_delta_rule", "phase": "context", "batch_size": 2, "seq_len": 512, "num_k_heads": 16,
    "head_k_dim": 128, "num_v_heads": 32, "head_v_dim": 64, "latency": 0.1,
}  # fmt: skip
MAMBA = {
    "kernel_source": "causal_conv1d_update", "phase": "generation", "batch_size": 2, "seq_len": 1, "nheads": 64,
    "head_dim": 64, "d_state": 128, "n_groups": 8, "chunk_size": 256, "latency": 0.01,
}  # fmt: skip
KDA = GDN | {"num_k_heads": 24, "num_v_heads": 24, "head_v_dim": 128}
SIZES = ("batch", "seq_len", "heads", "head_dim", "state_dim", "groups", "chunk")


def test_rows_of_both_variants_are_calls_of_their_phases(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [GDN], "linear_attention/gdn")
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3", [MAMBA], "linear_attention/mamba2")
    rows = aiconfigurator.read("h100_sxm", "linear_attention", tmp_path)
    found = {
        (rows.engine[i], rows.kernel[i]): [rows.column(name)[i] for name in ("variant", "phase", "dtype", *SIZES)]
        for i in range(2)
    }
    assert found == {
        ("sglang", "chunked"): ["gdn", "prefill", "bf16", 2, 512, 32, 64, 128, 16, 64],
        ("trtllm", "causal_conv1d"): ["mamba2", "decode", "bf16", 2, 1, 64, 64, 128, 8, 256],
    }
    assert rows.take(rows.engine == "sglang").call().chunk[0] == 64


def test_the_split_is_by_the_fields_of_calls(tmp_path):
    made = [GDN | {"batch_size": batch} for batch in range(1, 101)]
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", made, "linear_attention/gdn")
    rows = aiconfigurator.read("h100_sxm", "linear_attention", tmp_path)
    fields = [f"gdnx{batch}x512x32x64x128x64xprefillxbf16" for batch in range(1, 101)]
    assert rows.is_test.tolist() == [crc32(one.encode()) % 5 == 0 for one in fields]


@pytest.mark.parametrize(
    ("gpu", "framework", "version"), [("h100_sxm", "TRTLLM", "1.3"), ("a100_sxm", "SGLang", "0.5.10")]
)
def test_convolutions_of_the_same_channels_whatever_the_heads_are_dropped(tmp_path, gpu, framework, version):
    made = [GDN, GDN | {"kernel_source": "causal_conv1d_fn"}]
    put(tmp_path, gpu, framework, version, made, "linear_attention/gdn")
    (file,) = aiconfigurator.audit("linear_attention", tmp_path)
    assert (file.rows, file.kept) == (2, 1)
    assert all("2,048 channels" in reason for reason in file.dropped)


@pytest.mark.parametrize(
    ("source", "phase", "framework", "kernel"),
    [
        ("chunk_kda", "context", "SGLang", "chunked"),
        ("flashkda_fwd", "context", "VLLM", "flashkda"),
        ("kda_fused_decode", "generation", "SGLang", "kda_fused"),
        ("fused_recurrent_kda_packed_decode", "generation", "VLLM", "recurrent_packed"),
        ("causal_conv1d_fn_qkv3", "context", "SGLang", "causal_conv1d_qkv3"),
    ],
)
def test_rows_of_kda_are_calls_of_its_kernels(tmp_path, source, phase, framework, kernel):
    row = KDA | {"kernel_source": source, "phase": phase} | ({"seq_len": 1} if phase == "generation" else {})
    put(tmp_path, "h100_sxm", framework, "1", [row], "kda/kda")
    rows = aiconfigurator.read("h100_sxm", "linear_attention", tmp_path)
    assert (rows.kernel[0], rows.column("variant")[0]) == (kernel, "kda")
    assert [rows.column(name)[0] for name in ("heads", "groups", "head_dim", "state_dim", "chunk")] == [
        24, 24, 128, 128, 64,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "version"),
    [
        ({"kernel_source": "fused_recurrent_kda", "phase": "verify", "seq_len": 4}, "0.27.0"),
        ({"kernel_source": "causal_conv1d_fn_qkv3"}, "0.1.dev19262+gb6bbf29dd.d20260727"),
    ],
)
def test_drafted_tokens_and_eager_convolutions_of_kda_are_dropped(tmp_path, row, version):
    put(tmp_path, "h100_sxm", "VLLM", version, [KDA | row], "kda/kda")
    (file,) = aiconfigurator.audit("linear_attention", tmp_path)
    assert file.kept == 0
    assert "unknown kernel source" not in file.dropped
