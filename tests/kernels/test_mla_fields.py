"""What the fields of an MLA call take, and what they refuse."""

import numpy as np
import pytest

import synperf
from synperf import FieldError, Mla, UnsupportedError

GIVEN = {"q_len": 64, "kv_len": 64, "heads": 16}


def call(**changes):
    return Mla(**(GIVEN | changes))


def test_what_is_left_out_follows_what_is_given():
    prefill, decode = call(), call(q_len=1)
    assert (prefill.batch, prefill.kv_lora_rank, prefill.rope_dim, prefill.kv_dtype) == (1, 512, 64, "bf16")
    assert (prefill.absorbed, decode.absorbed, prefill.proj_dtype, prefill.is_module) == (False, True, None, False)


@pytest.mark.parametrize(
    ("changes", "kernel"),
    [
        ({"engine": "trtllm"}, "trtllm_module"),
        ({"engine": "plain"}, "plain_module"),
        ({}, "flash_attn_module"),
        ({"engine": "vllm", "dtype": "fp8"}, "trtllm_ragged_module"),
        ({"q_len": 1}, "flashinfer_module"),
    ],
)
def test_a_format_of_projections_means_the_module_of_the_engine(changes, kernel):
    made = call(proj_dtype="fp8_block", **changes)
    assert (made.kernel, made.is_module) == (kernel, True)


def test_a_module_projects_in_the_format_of_its_math_or_in_bf16_beside_fp8():
    assert call(kernel="trtllm_module", dtype="fp16").proj_dtype == "fp16"
    assert call(kernel="trtllm_module", dtype="fp8").proj_dtype == "bf16"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"q_len": 65}, "kv_len must not be below q_len, which is 65, got 64"),
        ({"q_len": [1, 65], "absorbed": False}, "kv_len must not be below q_len, which is 65, got 64 at index 1"),
        ({"q_len": [1, 2]}, "absorbed: missing, and q_len is 1 in some of the calls; right would be true or false"),
        ({"absorbed": "maybe"}, "absorbed must be true or false, got 'maybe'"),
        ({"heads": 0}, "heads must be a whole number from 1"),
        ({"kv_lora_rank": 1.5}, "kv_lora_rank must be a whole number from 1"),
        ({"dtype": "int8"}, "dtype must be one of fp32, tf32, fp16, bf16, fp8, got int8"),
        ({"kv_dtype": "fp32"}, "kv_dtype must not be wider than dtype, which is bf16, got fp32"),
        ({"proj_dtype": "int4"}, "proj_dtype must be one of"),
        ({"proj_dtype": "fp32"}, "proj_dtype must be bf16 like dtype, or both have 16 bits or fewer, got fp32"),
        ({"proj_dtype": "bf16", "kernel": "fa3"}, "proj_dtype: fa3 is attention alone"),
        ({"proj_dtype": "bf16", "engine": "sglang"}, "proj_dtype: no module of sglang is known"),
        ({"batch": [1, 2], "heads": [1, 2, 3]}, "heads has 3 values, but batch has 2"),
    ],
)
def test_bad_fields_are_one_sentence(changes, said):
    with pytest.raises(FieldError, match=f"^{said}"):
        call(**changes)


@pytest.mark.parametrize(("given", "taken"), [("false", False), ("True", True), (0, False), (np.bool_(True), True)])
def test_truth_values_in_any_dress_are_taken(given, taken):
    assert call(absorbed=given).absorbed is taken


@pytest.mark.parametrize(
    ("changes", "gpu", "said"),
    [
        ({"dtype": "fp8"}, "a100_sxm", "dtype: A100 SXM 80GB has no fp8 math"),
        ({"proj_dtype": "fp8_block"}, "a100_sxm", "dtype: A100 SXM 80GB has no fp8"),
        ({"kernel": "fa3"}, "a100_sxm", "kernel: fa3 needs compute capability 9.0; that of A100 SXM 80GB is 8.0"),
        ({"kernel": "trtllm_gen"}, "h100_sxm", "kernel: trtllm_gen needs compute capability 10.0, 10.3"),
        ({"engine": "torch"}, "h100_sxm", "engine: torch has no mla kernel for bf16"),
    ],
)
def test_what_a_gpu_engine_or_kernel_lacks_is_told(changes, gpu, said):
    with pytest.raises(UnsupportedError, match=f"^{said}"):
        synperf.predict(call(**changes), gpu, origin="analytical")


def test_columns_of_no_calls_give_no_times():
    for module in ({}, {"proj_dtype": "bf16"}):
        e = synperf.predict(call(batch=np.array([], dtype=np.int64), **module), "a100_sxm", origin="analytical")
        assert (len(e), e.time_s.tolist()) == (0, [])
