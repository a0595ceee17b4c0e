"""Sparse attention in aiconfigurator-core: every rule on a tree of a few rows."""

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.measurements import aiconfigurator

from .tree import put

ROW = {
    "batch_size": 4, "isl": 512, "step": 128, "num_heads": 16, "tp_size": 8, "mla_dtype": "bfloat16",
    "kv_cache_dtype": "bfloat16", "gemm_type": "fp8_block", "model": "deepseek-ai/DeepSeek-V3.2",
    "op_name": "dsa_context_module", "latency": 0.5, "kernel_source": "default",
}  # fmt: skip
TOKEN = ROW | {"isl": 1, "step": 4096, "op_name": "dsa_generation_module"}
SGLANG = TOKEN | {"kernel_source": "sglang_dsa_indexer_trtllm"}
CONTEXT, GENERATION, CORE = (
    f"sparse_attention/{name}" for name in ("dsa_context_module", "dsa_generation_module", "glm5_dsa_attn_module")
)
FIELDS = ("batch", "q_len", "kv_len", "heads", "hidden", "index_heads", "dtype", "kv_dtype", "indexes", "proj_dtype")


def one(root, table, row, gpu="b200_sxm", framework="TRTLLM", version="1.3.0rc20"):
    put(root, gpu, framework, version, [row], table)
    rows = aiconfigurator.read(gpu, "sparse_attention", root)
    return tuple(rows.column(name)[0] for name in FIELDS), rows.kernel[0]


def test_a_prompt_has_its_earlier_context_in_kv_len(tmp_path):
    found = one(tmp_path, CONTEXT, ROW)
    assert found == ((4, 512, 640, 16, 7168, 64, "bf16", "bf16", True, "fp8_block"), "trtllm_module")


def test_the_step_counts_the_new_token_but_for_sglang(tmp_path):
    assert one(tmp_path / "a", GENERATION, TOKEN)[0][:3] == (4, 1, 4096)
    assert one(tmp_path / "b", GENERATION, SGLANG, framework="SGLang", version="0.5.14")[0][:3] == (4, 1, 4097)


def test_glm_5_has_other_sizes(tmp_path):
    call, _ = one(tmp_path, GENERATION, TOKEN | {"model": "zai-org/GLM-5"})
    assert call[4:6] == (6144, 32)


def test_layers_that_take_an_earlier_selection_are_told_apart(tmp_path):
    row = SGLANG | {
        "op_name": "dsa_generation_module_skip_indexer", "kernel_source": "sglang_dsa_skip_indexer_trtllm",
    }  # fmt: skip
    call, kernel = one(tmp_path, GENERATION, row, framework="SGLang", version="0.5.14")
    assert (call[8], kernel) == (False, "trtllm_gen_module")


@pytest.mark.parametrize(
    ("row", "framework", "gpu", "dtype"),
    [
        (TOKEN, "TRTLLM", "b200_sxm", "fp8"),
        (SGLANG, "SGLang", "b200_sxm", "fp8"),
        (TOKEN | {"kernel_source": "FLASHINFER_MLA_SPARSE"}, "VLLM", "b200_sxm", "fp8"),
        (TOKEN | {"kernel_source": "FLASHMLA_SPARSE"}, "VLLM", "h100_sxm", "bf16"),
    ],
)
def test_over_an_fp8_cache_kernels_of_trtllm_compute_in_fp8(tmp_path, row, framework, gpu, dtype):
    call, _ = one(tmp_path, GENERATION, row | {"kv_cache_dtype": "fp8"}, gpu, framework, "1")
    assert call[6:8] == (dtype, "fp8")


def test_the_core_alone_is_a_kernel_of_its_own(tmp_path):
    row = ROW | {"kernel_source": "flash_mla_sparse_fwd", "kv_cache_dtype": "fp8_e4m3", "model": "nvidia/GLM-5.2-NVFP4"}
    call, kernel = one(tmp_path, CORE, row, framework="SGLang", version="0.5.14")
    assert (call[2], *call[6:], kernel) == (640, "bf16", "bf16", True, "", "flashmla_sparse")


@pytest.mark.parametrize(
    ("table", "row", "gpu", "framework", "reason"),
    [
        (CONTEXT, ROW, "b200_sxm", "SGLang", "prompts timed eagerly"),
        (CONTEXT, ROW, "h100_sxm", "VLLM", "prompts timed eagerly"),
        (GENERATION, SGLANG | {"batch_size": 512}, "h100_sxm", "SGLang", "more requests than the CUDA graphs"),
        (GENERATION, SGLANG | {"batch_size": 1024}, "b200_sxm", "SGLang", "more requests than the CUDA graphs"),
        (GENERATION, TOKEN | {"step": 2048}, "b200_sxm", "TRTLLM", "one length alone"),
    ],
)
def test_rows_that_tell_of_something_else_are_dropped(tmp_path, table, row, gpu, framework, reason):
    put(tmp_path, gpu, framework, "1", [row | {"latency": 0.5}], table)
    (file,) = aiconfigurator.audit("sparse_attention", tmp_path)
    assert file.kept == 0
    assert [found.startswith(reason) for found in file.dropped] == [True]
