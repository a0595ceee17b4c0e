"""What calls of expert layers and grouped GEMMs take and refuse, and which kernel they mean."""

import numpy as np
import pytest

import synperf
from synperf import DType, FusedMoe, GroupedGemm
from synperf.errors import FieldError, UnsupportedError
from synperf.kernels.dispatch import from_source, resolve

SIZES = {"tokens": 16, "hidden": 256, "inter": 512, "experts": 8, "topk": 2}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"topk": 9}, "topk must not be above experts, got 9 of 8"),
        ({"ep": 3}, "ep must divide experts, got 3 for 8"),
        ({"tp": 3}, "tp must divide inter, got 3 for 512"),
        ({"tokens": -1}, "tokens must be a whole number"),
        ({"tokens": 1.5}, "tokens must be a whole number"),
        ({"gated": "maybe"}, "gated must be true or false"),
        ({"distribution": "zipf"}, "distribution must be balanced or power_law_A"),
        ({"distribution": "power_law_0"}, "distribution must be"),
        ({"tokens_per_expert": [4] * 7}, "tokens_per_expert has 7 values, right would be 8"),
        ({"tokens_per_expert": [5] * 8}, "adds up to 40, right would be tokens x topk = 32"),
        ({"tokens_per_expert": [17, 15, 0, 0, 0, 0, 0, 0]}, "must not be above tokens, got 17 of 16"),
        ({"tokens_per_expert": [0] * 8}, "must have a row"),
        ({"tokens_per_expert": "4,-4,4,4,4,4,4,4"}, "tokens_per_expert[1] must be a whole number"),
        ({"tokens_per_expert": [4] * 8, "distribution": "power_law_1.2"}, "exclude each other"),
        ({"tokens_per_expert": [4] * 8, "tokens": [16, 17]}, "right would be tokens x topk = 34 at index 1"),
        ({"kernel": "cutlass_moe_nongated"}, "right would be gated=false"),
        ({"dtype": "fp3"}, "dtype"),
        ({"experts": [8, 8, 8], "topk": [2, 9, 2]}, "got 9 of 8 at index 1"),
    ],
)
def test_bad_fields_are_one_sentence(fields, sentence):
    with pytest.raises(FieldError) as caught:
        FusedMoe(**(SIZES | fields))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_is_taken_as_on_the_command_line():
    call = synperf.parse_call(
        "fused_moe", {n: str(v) for n, v in SIZES.items()} | {"gated": "false", "tokens_per_expert": "16,8,8,0,0,0,0,0"}
    )
    assert (call.tokens, call.gated, call.tokens_per_expert) == (16, False, (16, 8, 8, 0, 0, 0, 0, 0))


def test_a_table_may_hold_routings_and_groups():
    moe = {"family": "fused_moe", **SIZES, "experts": 4, "tokens": 4, "tokens_per_expert": [4, 4, 0, 0]}
    rows = [moe, {"family": "grouped_gemm", "m_per_group": "4,4,0", "n": 128, "k": 256}, moe | {"ep": 2}]
    found = synperf.predict(rows, "h100_sxm", origin="analytical")
    calls = [FusedMoe(**{k: v for k, v in row.items() if k != "family"}) for row in (rows[0], rows[2])]
    alone = [synperf.predict(call, "h100_sxm", origin="analytical").time_s for call in calls]
    assert [found[0]["time_s"], found[2]["time_s"]] == alone
    assert found[1]["kernel"] == "cutlass_grouped"


def test_a_format_that_the_gpu_lacks_is_refused():
    with pytest.raises(UnsupportedError, match="A100 SXM 80GB has no fp8 math"):
        synperf.predict(FusedMoe(**SIZES, dtype="fp8"), "a100_sxm", origin="analytical")
    with pytest.raises(UnsupportedError, match="vllm has no fused_moe kernel for nvfp4"):
        synperf.predict(FusedMoe(**SIZES, dtype="nvfp4"), "h100_sxm", origin="analytical")


@pytest.mark.parametrize(
    ("engine", "dtype", "cc", "kernel"),
    [
        ("vllm", "bf16", "9.0", "triton_moe"),
        ("vllm", "fp8", "9.0", "flashinfer_cutlass_moe"),
        ("vllm", "bf16", "10.0", "flashinfer_trtllm_moe"),
        ("vllm", "int4", "9.0", "marlin_moe"),
        ("sglang", "nvfp4", "12.0", "flashinfer_cutlass_moe"),
        ("trtllm", "fp8", "9.0", "cutlass_moe"),
        ("trtllm", "fp8_block", "10.0", "deepgemm"),
    ],
)
def test_engines_dispatch_as_they_were_measured(engine, dtype, cc, kernel):
    assert resolve("fused_moe", DType(dtype), cc, engine, None) == (engine, kernel)


def test_trtllm_without_gates_has_a_kernel_of_its_own():
    assert FusedMoe(**SIZES, gated=False, engine="trtllm").kernel == "cutlass_moe_nongated"


@pytest.mark.parametrize(
    ("source", "dtype", "kernel"),
    [
        ("sglang_fused_moe_triton", "bf16", "triton_moe"),
        ("vllm_fp8moe_triton_tritonexperts", "fp8_block", "triton_moe"),
        ("moe_torch_flow_cutlass", "fp8", "cutlass_moe"),
        ("moe_torch_flow_min_latency", "nvfp4", "min_latency_moe"),
        ("moe_torch_flow", "mxfp4_fp8", "flashinfer_trtllm_moe"),
        ("sglang_marlin_moe", "int4", "marlin_moe"),
        ("vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts", "int4", "marlin_moe"),
        ("vllm_marlin_int4_moe", "int4", "triton_moe"),  # its collector calls fused_experts
        ("pipeweave_fused_moe", "bf16", "triton_w13"),
        ("vllm_xpu_moe", "bf16", None),
    ],
)
def test_sources_of_measured_tables_have_canonical_names(source, dtype, kernel):
    assert from_source("fused_moe", source, DType(dtype)) == kernel


def test_weight_formats_have_the_rate_of_what_multiplies_them():
    assert (DType("int4_wo"), DType("w4a16_mxfp4"), DType("w4a8_mxfp4_mxfp8")) == ("int4", "mxfp4", "mxfp4_fp8")
    assert {d: d.rate.value for d in DType if d.is_mixed} == {
        "int4": "bf16",
        "mxfp4": "bf16",
        "mxfp4_fp8": "fp8",
        "int4_fp8": "fp8",
    }
    assert not any(d.is_mixed for d in synperf.gpu("b200_sxm").dtypes())


@pytest.mark.parametrize("groups", ["", "1,x", [], [0, 0], [1.5], 7, [-1], [True]])
def test_groups_that_are_none_are_refused(groups):
    with pytest.raises(FieldError, match="m_per_group"):
        GroupedGemm(m_per_group=groups, n=64, k=64)


def test_groups_may_be_text_a_list_or_an_array():
    for groups in ("4,0,7", [4, 0, 7], np.array([4, 0, 7])):
        assert GroupedGemm(m_per_group=groups, n=64, k=64).m_per_group == (4, 0, 7)
