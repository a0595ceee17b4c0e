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
