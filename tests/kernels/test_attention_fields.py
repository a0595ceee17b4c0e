"""What the fields of an attention call take, and what they refuse."""

import numpy as np
import pytest

import synperf
from synperf import Attention, FieldError, UnsupportedError

GIVEN = {"q_len": 64, "kv_len": 64, "heads": 32, "head_dim": 128}


def call(**changes):
    return Attention(**{name: value for name, value in (GIVEN | changes).items() if value is not None})


def test_what_is_left_out_follows_what_is_given():
    made = call()
    assert (made.batch, made.kv_heads, made.v_head_dim, made.kv_dtype, made.causal, made.window) == (
        1, 32, 128, "bf16", True, 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kv_heads": 5}, "kv_heads must divide heads, which are 32, got 5"),
        ({"kv_heads": [4, 5]}, "kv_heads must divide heads, which are 32, got 5 at index 1"),
        ({"q_len": 65}, "kv_len must not be below q_len under a causal mask, which is 65, got 64"),
        ({"q_len": 65, "causal": False, "window": 3}, "kv_len must not be below q_len with a window"),
        ({"window": -5}, "window must be a whole number from 0"),
        ({"window": [0, -5]}, "window must be a whole number"),
        ({"window": 1.5}, "window must be a whole number from 0"),
        ({"dtype": "int8"}, "dtype must be one of fp32, tf32, fp16, bf16, fp8, got int8"),
        ({"kv_dtype": "fp32"}, "kv_dtype must not be wider than dtype, which is bf16, got fp32"),
        ({"kv_dtype": "nvfp4"}, "kv_dtype must be one of"),
        ({"causal": "maybe"}, "causal must be true or false, got 'maybe'"),
        ({"page_size": 0}, "page_size must be a whole number from 1"),
        ({"kv_len": None}, "kv_len: missing; right would be one length, or a list of them as kv_lens"),
        ({"q_lens": [1, 2]}, "q_lens: q_len is given too"),
        ({"q_len": None, "q_lens": [1, 2], "kv_len": None, "kv_lens": [3]}, "kv_lens has 1 values, but q_lens has 2"),
        ({"q_len": None, "q_lens": [1, 9], "kv_len": 5}, "kv_len must not be below q_lens under a causal mask"),
        ({"q_len": None, "q_lens": [1, 2], "batch": 3}, "batch must be left out or be 2"),
        ({"q_len": None, "q_lens": []}, "q_lens must"),
        ({"q_len": None, "q_lens": 7}, "q_lens must be a list of lengths, got 7; one length for all is q_len"),
        ({"q_len": None, "q_lens": "1,x"}, r"q_lens\[1\] must be a whole number"),
        ({"q_len": None, "q_lens": [1, 2], "kv_len": [5, 6]}, "kv_len must be one number beside a list"),
        ({"batch": [1, 2], "heads": [1, 2, 3]}, "heads has 3 values, but batch has 2"),
    ],
)
def test_bad_fields_are_one_sentence(changes, said):
    with pytest.raises(FieldError, match=f"^{said}"):
        call(**changes)


@pytest.mark.parametrize("given", [[1, 512, 3], (1, 512, 3), np.array([1, 512, 3]), "1,512,3", "[1, 512, 3]"])
def test_lists_of_lengths_in_any_dress_are_taken(given):
    made = call(q_len=None, q_lens=given, kv_len=600)
    assert (made.q_lens, made.batch) == ((1, 512, 3), 3)


@pytest.mark.parametrize(("given", "taken"), [("false", False), ("True", True), (0, False), (np.bool_(True), True)])
def test_truth_values_in_any_dress_are_taken(given, taken):
    assert call(causal=given).causal is taken


@pytest.mark.parametrize(
    ("changes", "gpu", "said"),
    [
        ({"dtype": "fp8"}, "a100_sxm", "dtype: A100 SXM 80GB has no fp8 math"),
        ({"kernel": "fa3"}, "a100_sxm", "kernel: fa3 needs compute capability 9.0; that of A100 SXM 80GB is 8.0"),
        ({"dtype": "bf16"}, "t4", "dtype: T4 has no bf16 math"),
        ({"engine": "torch", "dtype": "fp8"}, "h100_sxm", "engine: torch has no attention kernel for fp8"),
        ({"kernel": "fa2", "dtype": "fp8"}, "h100_sxm", "kernel: fa2 multiplies bf16, fp16, not fp8"),
    ],
)
def test_what_a_gpu_engine_or_kernel_lacks_is_told(changes, gpu, said):
    with pytest.raises(UnsupportedError, match=f"^{said}"):
        synperf.predict(call(**changes), gpu, origin="analytical")


def test_columns_of_no_calls_give_no_times():
    e = synperf.predict(call(batch=np.array([], dtype=np.int64)), "a100_sxm", origin="analytical")
    assert (len(e), e.time_s.tolist()) == (0, [])


def test_a_table_may_have_lists_and_numbers_beside_each_other():
    table = [
        GIVEN | {"family": "attention", "kv_heads": 8},
        {"family": "attention", "heads": 32, "kv_heads": 8, "head_dim": 128, "q_lens": [64], "kv_lens": [64]},
        {"family": "attention", "heads": 32, "kv_heads": 8, "head_dim": 128, "q_lens": [9, 1], "kv_lens": [64, 7]},
    ]
    one, same, mixed = synperf.predict(table, "h100_sxm", origin="analytical")
    assert one["time_s"] == same["time_s"]
    made = Attention(q_lens=[1, 9], kv_lens=[7, 64], heads=32, kv_heads=8, head_dim=128)
    assert mixed["time_s"] == synperf.predict(made, "h100_sxm", origin="analytical").time_s
