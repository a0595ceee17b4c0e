"""Expert layers in aiconfigurator-core: every rule on a tree of a few rows."""

from zlib import crc32

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.measurements import aiconfigurator

from .tree import put

ROW = {
    "num_tokens": 256, "hidden_size": 4096, "inter_size": 1536, "topk": 8, "num_experts": 128, "moe_tp_size": 1,
    "moe_ep_size": 4, "moe_dtype": "bfloat16", "distribution": "balanced", "latency": 0.2,
    "kernel_source": "moe_torch_flow_cutlass",
}  # fmt: skip
FIELDS = ("tokens", "hidden", "inter", "experts", "topk", "tp", "ep", "dtype", "gated", "distribution")


def read(root, *rows, gpu="h100_sxm", framework="TRTLLM", version="1.3.0rc20"):
    put(root, gpu, framework, version, [ROW | row for row in rows], "moe/moe")
    return aiconfigurator.read(gpu, "fused_moe", root)


def dropped(root):
    files = aiconfigurator.audit("fused_moe", root)
    return {reason: count for file in files for reason, count in file.dropped.items()}


def test_a_row_is_a_call_with_unsharded_sizes(tmp_path):
    rows = read(tmp_path, {})
    call = tuple(rows.column(name)[0] for name in FIELDS)
    assert call == (256, 4096, 1536, 128, 8, 1, 4, "bf16", True, "balanced")
    assert (rows.kernel[0], rows.family[0], rows.time_s[0]) == ("cutlass_moe", "fused_moe", pytest.approx(200e-6))
    assert rows.labels() == ("family", "engine", "kernel", "dtype", "gated", "distribution")


def test_loads_of_two_distributions_are_two_keys_and_two_calls(tmp_path):
    rows = read(tmp_path, {}, {"distribution": "power_law_1.2", "latency": 0.3}, {"latency": 0.4})
    found = [(label, part.samples.tolist()) for label, part in rows.groups(*rows.labels()[3:])]
    assert found == [(("bf16", True, "balanced"), [2]), (("bf16", True, "power_law_1.2"), [1])]


def test_experts_without_a_gate_are_told_by_their_kernel(tmp_path):
    rows = read(tmp_path, {"kernel_source": "moe_torch_flow_nongated"})
    assert (rows.kernel[0], rows.column("gated")[0]) == ("cutlass_moe_nongated", False)


NEMOTRON = {"num_experts": 512, "topk": 22, "hidden_size": 2048, "inter_size": 5120, "moe_ep_size": 1}


@pytest.mark.parametrize(
    ("gpu", "framework", "version", "kernel_source", "gated"),
    [
        ("b200_sxm", "VLLM", "0.24.0", "vllm_unquantizedfusedmoe_flashinfer_trtllm_trtllmbf16experts", False),
        ("b200_sxm", "VLLM", "0.22.0", "vllm_fused_moe", True),
        ("b200_sxm", "SGLang", "0.5.14", "sglang_flashinfer_trtllm_moe", False),
        ("l40s", "SGLang", "0.5.14", "sglang_fused_moe_triton", False),
        ("h100_sxm", "SGLang", "0.5.14", "sglang_fused_moe_triton", True),
    ],
)
def test_nemotrons_experts_have_no_gate_where_times_are_too_short_for_one(
    tmp_path, gpu, framework, version, kernel_source, gated
):
    row, other = NEMOTRON | {"kernel_source": kernel_source}, {"kernel_source": kernel_source, "moe_ep_size": 1}
    rows = read(tmp_path, row, other, gpu=gpu, framework=framework, version=version)
    by_topk = dict(zip(rows.column("topk").tolist(), rows.column("gated"), strict=True))
    assert by_topk == {22: gated, 8: True}


def test_two_lanes_of_one_key_are_two_kernels(tmp_path):
    lanes = ("moe_torch_flow_cutlass", "moe_torch_flow_min_latency")
    rows = read(tmp_path, *({"kernel_source": lane, "moe_dtype": "nvfp4"} for lane in lanes), gpu="b200_sxm")
    assert sorted(rows.kernel) == ["cutlass_moe", "min_latency_moe"]


def test_whole_expert_shapes_are_held_out(tmp_path):
    shapes = [{"num_experts": experts, "num_tokens": tokens} for experts in range(16, 176, 16) for tokens in (1, 64)]
    rows = read(tmp_path, *shapes)
    expected = [crc32(f"{experts}x8x4096x1536".encode()) % 4 == 3 for experts in rows.column("experts")]
    assert rows.is_test.tolist() == expected
    assert 0 < rows.is_test.mean() < 1


def test_experts_of_other_ranks_in_sglangs_triton_kernel_are_dropped(tmp_path):
    triton = {"kernel_source": "sglang_fused_moe_triton"}
    rows = read(tmp_path, triton, triton | {"moe_ep_size": 1}, framework="SGLang", version="0.5.14")
    assert (rows.kernel.tolist(), rows.column("ep").tolist()) == (["triton_moe"], [1])
    (reason,) = dropped(tmp_path)
    assert reason.startswith("remote experts are clamped to expert 0")


def test_and_in_marlin_of_0_5_10_but_not_later(tmp_path):
    marlin = {"kernel_source": "sglang_marlin_moe", "moe_dtype": "int4_wo"}
    put(tmp_path, "h100_sxm", "SGLang", "0.5.10", [ROW | marlin, ROW | marlin | {"moe_ep_size": 1}], "moe/moe")
    rows = read(tmp_path, marlin, framework="SGLang", version="0.5.14")
    assert sorted(zip(rows.version, rows.column("ep").tolist(), strict=True)) == [("0.5.10", 1), ("0.5.14", 4)]


@pytest.mark.parametrize(
    ("moe_dtype", "dtype"),
    [
        ("fp8", "fp8"),
        ("fp8_block", "fp8_block"),
        ("int4_wo", "int4"),
        ("w4a16_mxfp4", "mxfp4"),
        ("w4a8_mxfp4_mxfp8", "mxfp4_fp8"),
        ("w4afp8", "int4_fp8"),
    ],
)
def test_formats_have_their_names(tmp_path, moe_dtype, dtype):
    assert read(tmp_path, {"moe_dtype": moe_dtype}).column("dtype")[0] == dtype


def test_a_source_that_names_no_kernel_is_dropped(tmp_path):
    read(tmp_path, {}, {"kernel_source": "vllm_mxfp4_moe", "moe_dtype": "w4a16_mxfp4"}, framework="VLLM")
    (reason,) = dropped(tmp_path)
    assert reason.startswith("the source names no kernel")


def test_every_row_is_kept_or_dropped_for_one_reason(tmp_path):
    read(tmp_path, {}, {}, {"device": "NVIDIA H200"}, {"latency": 0.0}, {"moe_dtype": "other"}, {"kernel_source": "?"})
    (file,) = aiconfigurator.audit("fused_moe", tmp_path)
    assert (file.rows, file.kept, file.keys, sorted(file.dropped.values())) == (6, 2, 1, [1, 1, 1, 1])
