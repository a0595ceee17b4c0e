"""Multi-head latent attention in aiconfigurator-core: every rule on a tree of a few rows."""

from zlib import crc32

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.measurements import aiconfigurator

from .tree import put

ROW = {
    "batch_size": 4, "isl": 512, "step": 0, "num_heads": 16, "tp_size": 8, "mla_dtype": "bfloat16",
    "kv_cache_dtype": "bfloat16", "latency": 0.05, "kernel_source": "default",
}  # fmt: skip
TOKEN = ROW | {"isl": 1, "step": 511}
MODULE = {"gemm_type": "fp8_block", "model": "deepseek-ai/DeepSeek-V3"}
FIELDS = (
    "batch",
    "q_len",
    "kv_len",
    "heads",
    "kv_lora_rank",
    "rope_dim",
    "dtype",
    "kv_dtype",
    "absorbed",
    "proj_dtype",
)


def one(root, table, row, gpu="h100_sxm", framework="TRTLLM", version="1.3.0rc20"):
    put(root, gpu, framework, version, [row], f"mla/{table}")
    rows = aiconfigurator.read(gpu, "mla", root)
    return tuple(rows.column(name)[0] for name in FIELDS), rows


def dropped(root):
    return {reason: count for file in aiconfigurator.audit("mla", root) for reason, count in file.dropped.items()}


def test_prefill_of_the_core_is_not_absorbed_and_has_the_heads_of_one_rank(tmp_path):
    call, rows = one(tmp_path, "context_mla", ROW)
    assert call == (4, 512, 512, 16, 512, 64, "bf16", "bf16", False, "")
    assert (rows.kernel[0], rows.kernel_source[0]) == ("trtllm", "default")


def test_decode_of_the_core_is_absorbed_and_counts_the_new_token(tmp_path):
    call, _ = one(tmp_path, "generation_mla", TOKEN)
    assert call == (4, 1, 512, 16, 512, 64, "bf16", "bf16", True, "")


def test_a_module_is_a_kernel_of_its_own_with_the_format_of_its_projections(tmp_path):
    call, rows = one(tmp_path, "mla_context_module", ROW | MODULE)
    assert call == (4, 512, 512, 16, 512, 64, "bf16", "bf16", False, "fp8_block")
    assert (rows.kernel[0], rows.kernel_source[0]) == ("trtllm_module", "default")


def test_the_step_of_a_module_counts_the_new_token_already(tmp_path):
    call, _ = one(tmp_path, "mla_generation_module", TOKEN | MODULE | {"step": 512})
    assert call[:3] == (4, 1, 512)


def test_short_prompts_of_vllms_modules_run_absorbed(tmp_path):
    short = ROW | MODULE | {"kernel_source": "FLASHINFER_MLA"}
    call, rows = one(tmp_path, "mla_context_module", short, "b200_sxm", "VLLM", "0.24.0")
    assert (call[8], rows.kernel[0]) == (True, "flashinfer_module")


def test_the_split_is_by_the_fields_of_the_call(tmp_path):
    _, rows = one(tmp_path, "context_mla", ROW)
    assert rows.is_test[0] == (crc32(b"4x512x512x16x512x64xbf16xbf16xfalse") % 5 == 0)


def test_core_and_module_of_one_call_are_on_one_side(tmp_path):
    steps = range(1, 60)
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", [TOKEN | {"step": step} for step in steps], "mla/generation_mla")
    modules = [TOKEN | MODULE | {"step": step + 1} for step in steps]
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", modules, "mla/mla_generation_module")
    parts = dict(aiconfigurator.read("h100_sxm", "mla", tmp_path).groups("kernel"))
    core, module = parts["trtllm",].is_test, parts["trtllm_module",].is_test
    assert core.tolist() == module.tolist()
    assert 0 < core.sum() < len(steps)


def test_one_call_of_two_models_is_one_key(tmp_path):
    models = [ROW | MODULE | {"model": model, "latency": time} for model, time in (("a", 0.05), ("b", 0.06))]
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", models, "mla/mla_context_module")
    rows = aiconfigurator.read("h100_sxm", "mla", tmp_path)
    assert (rows.samples.tolist(), rows.time_s[0]) == ([2], pytest.approx(55e-6))


@pytest.mark.parametrize("gpu", ["a100_sxm", "l40s"])
def test_the_fp8_label_of_trtllm_1_0_0_is_dropped(tmp_path, gpu):
    rows = [ROW, ROW | {"kv_cache_dtype": "fp8"}]
    put(tmp_path, gpu, "TRTLLM", "1.0.0", rows, "mla/context_mla")
    assert aiconfigurator.read(gpu, "mla", tmp_path).column("kv_dtype").tolist() == ["bf16"]
    assert dropped(tmp_path) == {"the fp8 label was not honoured: times are those of bf16": 1}


@pytest.mark.parametrize(
    ("gpu", "version", "kept"), [("b200_sxm", "0.24.0", 1), ("gb300", "0.27.0", 1), ("gb300", "0.24.0", 0)]
)
def test_eager_modules_of_vllm_are_dropped(tmp_path, gpu, version, kept):
    row = ROW | MODULE | {"kernel_source": "FLASH_ATTN"}
    put(tmp_path, gpu, "VLLM", version, [row], "mla/mla_context_module")
    (file,) = aiconfigurator.audit("mla", tmp_path)
    assert file.kept == kept
    assert [reason.partition(":")[0] for reason in file.dropped] == ["modules timed eagerly and unfused"] * (1 - kept)
