"""What the fields of a call take, and what they refuse."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import synperf
from synperf import FieldError, Gemm


@pytest.mark.parametrize(
    ("given", "taken"),
    [(14, 14), (14.0, 14), ("14", 14), (" 14 ", 14), ("14.0", 14), ("1e3", 1000), (np.int8(5), 5), (np.float64(5), 5),
     (np.array(3), 3), (Decimal(7), 7), (Fraction(3, 1), 3), (2**31 - 1, 2**31 - 1)],
)  # fmt: skip
def test_whole_numbers_in_any_dress_are_taken(given, taken):
    m = Gemm(m=given, n=1, k=1).m
    assert (m, type(m)) == (taken, int)


@pytest.mark.parametrize(
    "given",
    [0, -1, -0.0, 1.5, 2**31, 10**400, True, np.True_, None, "", "x", "0x10", "1_000", "٣", b"4", float("nan"),
     float("inf"), Fraction(1, 3), [], {}, object()],
    ids=repr,
)  # fmt: skip
def test_anything_else_is_refused_by_name(given):
    with pytest.raises(FieldError, match=r"^m must be"):
        Gemm(m=given, n=1, k=1)


@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        (1, 2),
        [1.0, 2.0],
        ["1", "2"],
        np.array([1, 2], dtype=np.int8),
        np.array([1, 9, 2, 9])[::2],
        np.array(["1", "2"]),
    ],
    ids=repr,
)
def test_lists_and_arrays_become_columns(given):
    m = Gemm(m=given, n=1, k=1).m
    assert (m.tolist(), m.dtype) == ([1.0, 2.0], np.float64)


@pytest.mark.parametrize(
    ("given", "where"),
    [([1, 0], "index 1"), ([1, 2.5], "index 1"), (np.array([1, np.nan]), "index 1"), (np.ones((2, 2)), "shape"),
     ([1, None], r"m\[1\]"), ([1, [2]], r"m\[1\]"), ([None, []], r"m\[0\]"), ([[1]], r"m\[0\]"), ([True, 2], r"m\[0\]"),
     ([10**30], r"m\[0\]")],
)  # fmt: skip
def test_a_bad_value_of_a_column_is_told_with_its_place(given, where):
    with pytest.raises(FieldError, match=where):
        Gemm(m=given, n=1, k=1)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(FieldError, match="n has 3 values, but m has 2"):
        Gemm(m=[1, 2], n=[1, 2, 3], k=1)


def test_columns_of_no_calls_give_no_times():
    e = synperf.predict(Gemm(m=np.array([], dtype=np.int64), n=1, k=1), "a100_sxm")
    assert (len(e), e.time_s.tolist(), e.limiter.tolist()) == (0, [], [])


@pytest.mark.parametrize(("field", "given"), [("engine", ""), ("engine", 3), ("kernel", " ")])
def test_names_must_be_text(field, given):
    with pytest.raises(FieldError, match=f"^{field} must be a name"):
        Gemm(m=1, n=1, k=1, **{field: given})


@pytest.mark.parametrize(("field", "given", "near"), [("dtype", "bf17", "bf16"), ("out_dtype", "fp33", "fp32")])
def test_an_unknown_format_is_told_with_the_nearest(field, given, near):
    with pytest.raises(FieldError, match=rf"^{field}: no dtype named '{given}'; nearest: .*{near}"):
        Gemm(m=1, n=1, k=1, **{field: given})


def test_an_unknown_engine_or_kernel_is_told_with_the_nearest():
    with pytest.raises(FieldError, match=r"^engine: no engine named 'vlm'; nearest: vllm"):
        synperf.predict(Gemm(m=1, n=1, k=1, engine="vlm"), "a100_sxm")
    with pytest.raises(FieldError, match=r"^kernel: no gemm kernel named 'cublass'; nearest: cublas"):
        synperf.predict(Gemm(m=1, n=1, k=1, kernel="cublass"), "a100_sxm")


def test_a_tables_own_kernel_source_is_a_name_of_the_kernel():
    e = synperf.predict(
        Gemm(m=1, n=1, k=1, dtype="fp8", engine="vllm", kernel="CutlassFP8ScaledMMLinearKernel"), "h100_sxm"
    )
    assert e.kernel == "cutlass_fp8"


def test_arrays_of_other_kinds_are_taken_by_their_values_or_refused():
    class Mine(np.ndarray):
        pass

    assert Gemm(m=np.array([1, 2]).view(Mine), n=1, k=1).m.tolist() == [1.0, 2.0]
    with pytest.raises(FieldError, match="masked"):
        Gemm(m=np.ma.masked_array([1, 2], mask=[0, 1]), n=1, k=1)
    with pytest.raises(FieldError, match="index 0"):
        Gemm(m=np.array([2**31], dtype=np.float32), n=1, k=1)
    with pytest.raises(FieldError, match=r"^m must be"):
        Gemm(m=Decimal("5.0000000000000000000001"), n=1, k=1)


def test_a_column_of_a_dataframe_is_a_column():
    pl = pytest.importorskip("polars")
    assert Gemm(m=pl.Series([1, 2]), n=1, k=1).m.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("out_dtype", ["nvfp4", "fp8_block", "tf32"])
def test_what_no_gemm_writes_is_refused(out_dtype):
    with pytest.raises(FieldError, match=r"^out_dtype must be one of"):
        Gemm(m=1, n=1, k=1, out_dtype=out_dtype)


@pytest.mark.parametrize("origin", [5, ["x"], "guess"])
def test_an_origin_that_is_none_is_told(origin):
    with pytest.raises(FieldError, match=r"^origin: no estimator named"):
        synperf.predict(Gemm(m=1, n=1, k=1), "a100_sxm", origin=origin)
