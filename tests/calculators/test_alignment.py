"""Multiples of 16 and 128 bytes, from NVIDIA's guide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import DType, UnsupportedError
from synperf.calculators.alignment import alignment
from tests.cli.runner import assert_refused, invoke


@pytest.mark.parametrize(
    ("dtype", "multiple", "best"),
    [("fp16", 8, 64), ("bf16", 8, 64), ("int8", 16, 128), ("fp8", 16, 128), ("tf32", 4, 32), ("nvfp4", 32, 256)],
)
def test_multiples_by_format(dtype, multiple, best):
    found = alignment({"k": 1}, dtype).extents[0]
    assert (found.multiple, found.best_multiple) == (multiple, best)


def test_an_odd_k_is_padded_to_1008():
    found = alignment({"k": 1001}, DType.FP16, synperf.gpu("a100_sxm"))
    assert found.extents[0].padded == 1008
    assert round(100 * found.extents[0].waste, 2) == 0.69
    assert found.extents[0].best_padded == 1024
    assert (found.extents[0].load_bytes, found.aligned) == (2, False)
    assert found.advice[0].startswith("pad k from 1,001 to 1,008: 0.694 % of it is padding")


def test_before_a100_lines_are_not_asked_for():
    assert alignment({"k": 1001}, DType.FP16, synperf.gpu("v100_sxm")).best_bytes == 16


def test_the_product_of_wastes():
    found = alignment({"m": 12, "n": 9, "k": 16})
    assert found.flop_waste == pytest.approx(1 - 12 / 16 * 9 / 16)


@pytest.mark.parametrize(("address", "load"), [(0x1000, 16), (0x1008, 8), (0x1002, 2), (1, 1), (0, 16)])
def test_an_address_needs_sixteen_bytes_and_not_256(address, load):
    found = alignment({"k": 64}, address=address)
    assert (found.address_load_bytes, found.aligned) == (load, load == 16)


@given(st.integers(1, 10**6), st.sampled_from(["fp32", "bf16", "fp8"]))
def test_padding_is_the_least_that_is_enough(value, dtype):
    one = alignment({"n": value}, dtype).extents[0]
    assert one.padded % one.multiple == one.best_padded % one.best_multiple == 0
    assert value <= one.padded < value + one.multiple
    assert value <= one.best_padded < value + one.best_multiple
    assert 0 <= one.waste <= one.best_waste < 1
    assert one.is_aligned == (one.load_bytes == 16)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "k: none given"),
        (("--k", "0"), "k must be a whole number from 1"),
        (("--m", "-8"), "m must be a whole number from 1"),
        (("--k", "99999999999"), "k must be a whole number from 1"),
        (("--k", "8", "--dtype", "fp9"), "dtype: no dtype named 'fp9'"),
        (("--k", "8", "--dtype", "fp8", "--gpu", "a100_sxm"), "dtype: A100 SXM 80GB has no fp8 math"),
        (("--k", "8", "--gpu", "h21"), "gpu: no GPU named 'h21'"),
        (("--k", "8", "--address", "here"), "address must be a whole number of bytes, such as 0x1008"),
        (("--k", "8", "--address", "-16"), "address must be a whole number of bytes from 0"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("alignment", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


def test_a_format_that_the_gpu_lacks_is_refused():
    with pytest.raises(UnsupportedError, match="has no fp8 math"):
        alignment({"k": 8}, DType.FP8, synperf.gpu("a100_sxm"))
