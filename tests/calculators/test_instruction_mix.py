"""Pipes of an SM: attention's products against its exponentials, rates per GPU, and a measured product."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.instruction_mix import instruction_mix
from synperf.errors import UnsupportedError
from synperf.hardware import DType
from tests.cli.runner import assert_refused, invoke

H100 = synperf.gpu("h100_sxm")


def test_products_of_attention_take_twice_the_time_of_its_exponentials_on_h100():
    found = instruction_mix(H100, tensor_flop=4 * 128, xu_op=1)
    assert (found.pipes["tensor"].cycles, found.pipes["xu"].cycles) == (0.125, 0.0625)
    assert found.limiters == ("tensor",)
    assert found.balance == 0.5
    assert "tensor to xu is 2 to 1" in found.why[2]


def test_in_fp8_the_exponentials_take_as_long():
    found = instruction_mix(H100, dtype=DType.FP8, tensor_flop=4 * 128, xu_op=1)
    assert found.pipes["tensor"].cycles == found.pipes["xu"].cycles == 0.0625
    assert set(found.limiters) == {"tensor", "xu"}
    assert "fp8: 0.0625 tensor cycles, 0.0625 in all; then xu and tensor would be the limit" in (
        instruction_mix(H100, tensor_flop=512, xu_op=1).advice
    )


@pytest.mark.parametrize(
    ("gpu", "dtype", "tensor", "fp32_lanes"),
    [
        ("v100_sxm", "fp16", 1024, 64), ("a100_sxm", "bf16", 2048, 64), ("a40", "bf16", 1024, 128),
        ("rtx_6000_ada", "bf16", 1024, 128), ("l40", "bf16", 512, 128), ("l20", "bf16", 512, 128),
        ("h100_sxm", "bf16", 4096, 128), ("h20", "bf16", 1024, 128), ("rtx_pro_6000_server", "bf16", 1024, 128),
    ],
)  # fmt: skip
def test_rates_of_an_sm_in_a_clock(gpu, dtype, tensor, fp32_lanes):
    rates = instruction_mix(synperf.gpu(gpu), dtype=DType(dtype), tensor_flop=1).rates
    assert (rates["tensor"], rates["fma"] / 2, rates["xu"]) == (tensor, fp32_lanes, 16)


def test_a_measured_product_on_a100():
    found = instruction_mix(synperf.gpu("a100_sxm"), tensor_flop=2 * 4096**3, took_s=0.55e-3)
    assert found.flop_per_s == pytest.approx(249.9e12, rel=1e-3)
    assert found.peak_flop_per_s == pytest.approx(311.9e12, rel=1e-3)
    assert found.flop_utilization == pytest.approx(0.801, abs=5e-4)
    assert found.pipes["tensor"].utilization == pytest.approx(found.flop_utilization)


def test_instructions_a_clock_and_sm():
    a100 = synperf.gpu("a100_sxm")
    found = instruction_mix(a100, instructions=108 * 1.41e9 * 2, took_s=1.0)
    assert found.ipc == pytest.approx(2)
    assert found.pipes["issue"].utilization == pytest.approx(0.5)


def test_a_time_that_cannot_be_is_told():
    found = instruction_mix(synperf.gpu("a100_sxm"), tensor_flop=2 * 4096**3, took_s=0.4e-3)
    assert found.why[-1].startswith("that is more than the whole")


@given(st.floats(1, 1e12), st.floats(1, 1e12), st.floats(1, 1e12))
def test_the_limit_is_the_slowest_by_hand(tensor, fma, xu):
    found = instruction_mix(H100, tensor_flop=tensor, fma_flop=fma, xu_op=xu)
    assert found.cycles == pytest.approx(max(tensor / 4096, fma / 256, xu / 16))
    assert found.pipes[found.limiters[0]].of_limit == 1
    assert 0 <= found.balance <= 1


def test_a_format_without_tensor_cores_is_refused():
    with pytest.raises(
        UnsupportedError, match=r"dtype: V100 SXM.* has no fp8 tensor cores; right would be one of: fp16"
    ):
        instruction_mix(synperf.gpu("v100_sxm"), dtype=DType.FP8, tensor_flop=1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ([], "gpu"),
        (["--gpu", "h100_sxm"], "tensor_flop: nothing is counted"),
        (["--gpu", "h100_sxm", "--xu-op", "-1"], "xu_op"),
        (["--gpu", "h100_sxm", "--xu-op", "nan"], "xu_op"),
        (["--gpu", "h100_sxm", "--xu-op", "1", "--took-s", "0"], "took_s"),
        (["--gpu", "h100_sxm", "--xu-op", "1", "--dtype", "bf17"], "dtype"),
    ],
)
def test_bad_input_is_one_sentence(options, word):
    seen = invoke("instruction-mix", *options)
    assert_refused(seen)
    assert word in seen.err


def test_json_has_every_pipe():
    found = json.loads(invoke("instruction-mix", "--gpu", "h100_sxm", "--fma-flop", "512", "--json").out)
    assert found["pipes"]["fma"]["cycles"] == 2
    assert found["limiters"] == ["fma"]
    with pytest.raises(FieldError):
        instruction_mix(H100, fma_flop=float("inf"))
