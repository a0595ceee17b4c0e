"""Kernels among others of a step: cold operands, and GPUs that nobody measured."""

import pytest

import synperf
from synperf import hardware, predict
from synperf.api import family_of
from synperf.collectives import Collective
from synperf.hardware import DType
from synperf.hardware.power import Power, power
from synperf.kernels.attention_call import Attention
from synperf.kernels.gemm_call import Gemm
from synperf.serving.in_step import in_step

LONG = Gemm(m=8192, n=8192, k=8192, engine="sglang")
SHORT = Gemm(m=8, n=8192, k=8192, engine="sglang")
CACHED = Attention(batch=8, q_len=1, kv_len=4000, heads=40, kv_heads=8, head_dim=128, engine="sglang")


def test_a_product_that_math_limits_is_as_alone_on_a_measured_gpu() -> None:
    gpu = hardware.gpu("h100_sxm")
    assert in_step(LONG, gpu).time_s == predict(LONG, gpu).time_s


def test_a_cache_comes_out_of_dram_even_where_l2_would_hold_it() -> None:
    gpu = hardware.gpu("rtx_pro_6000_server")  # its L2 holds these keys and values
    least = family_of(CACHED).compulsory_bytes(CACHED) / gpu.dram_bytes_per_s
    assert predict(CACHED, gpu).time_s < least < in_step(CACHED, gpu).time_s


@pytest.mark.parametrize("call", [LONG, SHORT, CACHED])
@pytest.mark.parametrize("key", ["h100_sxm", "h20", "l40", "a40", "rtx_6000_ada", "mi300x", "a100_sxm"])
def test_intervals_hold_the_time_and_nothing_is_below_its_floor(call, key: str) -> None:
    gpu = hardware.gpu(key)
    if key == "mi300x":
        call = synperf.Gemm(m=call.m, n=call.n, k=call.k) if isinstance(call, Gemm) else CACHED.__class__(
            batch=8, q_len=1, kv_len=4000, heads=40, kv_heads=8, head_dim=128, engine="plain"
        )  # fmt: skip
    found = in_step(call, gpu)
    assert found.floor_s <= found.low_s <= found.time_s <= found.high_s


def test_a_board_with_little_power_takes_as_long_as_it_sustains() -> None:
    gpu = hardware.gpu("rtx_6000_ada")
    sustained = power().flop_per_s(gpu, DType.BF16)
    assert sustained is not None
    assert in_step(LONG, gpu).time_s == pytest.approx(2 * 8192**3 / sustained, rel=0.02)


def test_twice_the_watts_give_half_the_time_until_the_tensor_cores_are_the_limit() -> None:
    gpu = hardware.gpu("rtx_6000_ada")
    weak, strong, boundless = (
        in_step(LONG, gpu, limits=Power(efficiency=1.0, flop_per_s_per_w={"8.9": per_w})).time_s
        for per_w in (0.1e12, 0.2e12, 100e12)
    )
    assert weak == pytest.approx(2 * strong, rel=0.02)
    assert boundless == pytest.approx(predict(LONG, gpu, origin="analytical").time_s, rel=0.02)


def test_a_product_that_dram_limits_keeps_the_time_of_its_network() -> None:
    gpu = hardware.gpu("l40")
    assert in_step(SHORT, gpu).time_s == pytest.approx(predict(SHORT, gpu).time_s, rel=0.1)


def test_h20_runs_the_tiles_of_its_kin_which_its_tensor_cores_feel() -> None:
    gpu = hardware.gpu("h20")
    call = Gemm(m=8, n=27648, k=5120, engine="sglang")  # H100 takes 64 rows for it, H20 would take 16
    assert in_step(call, gpu).time_s > 1.3 * predict(call, gpu, origin="analytical").time_s


def test_what_was_done_is_said_of_gpus_that_nobody_measured() -> None:
    assert any(said.startswith("in a step:") for said in in_step(LONG, hardware.gpu("l40")).assumptions)
    assert not any(said.startswith("in a step:") for said in in_step(LONG, hardware.gpu("l40s")).assumptions)


def test_messages_are_as_alone() -> None:
    call = Collective(operation="all_reduce", bytes=2**20, ranks=2)
    gpu = hardware.gpu("h100_sxm")
    assert in_step(call, gpu).time_s == predict(call, gpu).time_s


def test_a_gpu_of_few_flop_per_byte_reads_as_fast_as_its_bandwidth_sustains() -> None:
    odd, call = hardware.gpu("rtx_3090"), Gemm(m=1, n=27648, k=5120, engine="vllm")
    assert predict(call, odd).origin == "analytical"
    assert in_step(call, odd).efficiency > 0.8
