"""Fields of the memory-bound families: what is read, what they default to, and the sentence for each that is wrong."""

import numpy as np
import pytest

import synperf
from synperf import DType, FieldError
from synperf.kernels import families
from synperf.kernels.memory_traits import _read, facts

FAMILIES = sorted(name for name, kind in families().items() if kind.is_memory_bound)
FORMATS = "fp32, fp16, bf16"

BAD = [
    ("rmsnorm", {}, "rmsnorm: missing rows, dim"),
    ("rmsnorm", {"rows": 1, "dim": 8, "cols": 2}, "rmsnorm: no field named 'cols'; nearest: rows"),
    ("rmsnorm", {"rows": 0, "dim": 8}, "rows must be a whole number from 1 to 2147483647, got 0"),
    ("rmsnorm", {"rows": 1.5, "dim": 8}, "rows must be a whole number from 1 to 2147483647, got 1.5"),
    ("copy", {"rows": 1, "dim": 2**31}, "dim must be a whole number from 1 to 2147483647, got 2147483648"),
    ("softmax", {"rows": 1, "dim": 8, "dtype": "fp8"}, f"dtype must be one of {FORMATS}, got fp8"),
    ("softmax", {"rows": 1, "dim": 8, "dtype": "bf17"}, "dtype: no dtype named 'bf17'; nearest: bf16"),
    ("rmsnorm", {"rows": 1, "dim": 8, "quant_dtype": "fp3"}, "quant_dtype: no dtype named 'fp3'; nearest: "),
    (
        "rmsnorm",
        {"rows": 1, "dim": 8, "quant_dtype": "fp16"},
        "quant_dtype must be one of fp8, fp8_block, int8, nvfp4, got",
    ),
    ("rmsnorm", {"rows": 1, "dim": 24, "quant_dtype": "nvfp4"}, "dim must be a multiple of 16 in nvfp4, got 24"),
    ("quantize", {"rows": 1, "dim": 48, "quant_dtype": "mxfp4"}, "dim must be a multiple of 32 in mxfp4, got 48"),
    ("rmsnorm", {"rows": 1, "dim": 8, "residual": "perhaps"}, "residual must be true or false, got 'perhaps'"),
    ("softmax", {"rows": 1, "dim": 8, "residual": True}, "softmax: no field named 'residual'"),
    ("rope", {"rows": 1, "dim": 127}, "dim must be even, since pairs of values are rotated, got 127"),
    ("embedding", {"rows": 1, "dim": 8, "vocab": 0}, "vocab must be a whole number from 1 to 2147483647, got 0"),
    ("sampling", {"rows": 1}, "vocab: missing; right would be the number of logits of a sequence"),
    ("sampling", {"rows": 1, "vocab": 10, "top_k": 11}, "top_k must not be above vocab, which is 10, got 11"),
    ("sampling", {"rows": 1, "vocab": 10, "dim": 9}, "vocab must be dim where both are given, which is 9, got 10"),
    (
        "reduction",
        {"rows": 1, "dim": 8, "axis": 2},
        r"axis must be 0 \(a sum of each column\) or 1 \(of each row\), got '2'",
    ),
    (
        "reduction",
        {"rows": 1, "dim": 8, "axis": "x"},
        r"axis must be 0 \(a sum of each column\) or 1 \(of each row\), got 'x'",
    ),
    ("reduction", {"rows": 1, "dim": 8, "axis": True}, r"axis must be 0 \(a sum of each column\) or 1"),
    ("elementwise", {}, "elementwise: missing elements"),
    ("elementwise", {"elements": 2**53 + 2}, "elements must be a whole number from 1 to 9007199254740992, got"),
    ("elementwise", {"elements": 8, "inputs": -1}, "inputs must be a whole number from 1 to 2147483647, got -1"),
    (
        "kv_append",
        {"rows": 1, "dim": 8, "dtype": "fp8", "quant_dtype": "bf16"},
        "quant_dtype must be one of fp8, int8, got",
    ),
]


@pytest.mark.parametrize(("family", "values", "sentence"), BAD)
def test_a_bad_field_is_one_sentence(family, values, sentence):
    with pytest.raises(FieldError, match=sentence) as raised:
        synperf.parse_call(family, values)
    assert "\n" not in str(raised.value)


def test_a_bad_row_of_a_column_is_named():
    with pytest.raises(FieldError, match=r"dim must be even, .* got 7 at index 1"):
        synperf.Rope(rows=8, dim=[64, 7])
    with pytest.raises(FieldError, match="top_k must not be above vocab, which is 5, got 6 at index 0"):
        synperf.Sampling(rows=1, vocab=[5, 7], top_k=6)
    with pytest.raises(FieldError, match="dim has 3 values, but rows has 2"):
        synperf.Softmax(rows=[1, 2], dim=[1, 2, 3])


def test_an_engine_without_the_kernel_says_so():
    with pytest.raises(
        synperf.UnsupportedError, match=r"engine: vllm has no softmax kernel for bf16; right would be plain, torch$"
    ):
        synperf.predict(synperf.Softmax(rows=1, dim=8, engine="vllm"), "h100_sxm")
    with pytest.raises(FieldError, match="no rmsnorm kernel named 'apex'"):
        synperf.predict(synperf.RmsNorm(rows=1, dim=8, kernel="apex"), "h100_sxm")


def test_text_and_numbers_are_read_alike():
    read = synperf.parse_call("rmsnorm", {"rows": "14.0", "dim": "4096", "residual": "true", "quant_dtype": "FP8"})
    assert read == synperf.RmsNorm(rows=14, dim=4096, residual=True, quant_dtype=DType.FP8)
    assert synperf.parse_call("reduction", {"rows": 2, "dim": 3, "axis": "-2"}).axis == 0


def test_the_most_elements_are_those_that_float64_counts():
    for most in (2**53, "9007199254740992", np.array([2.0**53])):
        e = synperf.predict(synperf.Elementwise(elements=most), "h100_sxm")
        assert np.isfinite(e.time_s).all()


def test_logits_are_given_as_dim_or_as_vocab():
    assert synperf.Sampling(rows=1, dim=10).dim == synperf.Sampling(rows=1, vocab=10).dim == 10


@pytest.mark.parametrize("name", FAMILIES)
def test_facts_are_of_formats_and_families_that_exist(name):
    known = facts(name)
    assert known.dtypes
    assert set(known.quant_dtypes) <= set(map(DType, _read("memory_bound")["scales"]))


def test_kernels_that_engines_name_have_a_way_to_be_launched():
    for kernel, listed in _read("memory_kernels")["kernels"].items():
        own = {name for name, value in listed.items() if isinstance(value, dict)}
        assert own <= set(FAMILIES), kernel
