"""Laws of expert layers on every catalog GPU and random shapes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import DType, FusedMoe, Gemm
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.dispatch import engines, resolve
from synperf.kernels.fused_moe import tiling
from synperf.kernels.moe_layer import passes
from synperf.kernels.moe_loads import loads
from synperf.kernels.moe_tiles import cost
from synperf.report.explanations import to_text

from . import laws

MOE = family("fused_moe")
COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")
SIZES = ("tokens", "hidden", "inter", "topk")
extent = st.one_of(st.integers(1, 300), st.integers(1, 40_000))
gpu_keys = st.sampled_from(keys())

predict = partial(synperf.predict, origin="analytical")  # whose laws these are


@st.composite
def calls(draw):
    gpu = synperf.gpu(draw(gpu_keys))
    name = draw(st.sampled_from(engines()))
    formats = [d for d in DType if _has(name, d, gpu)]
    dtype = draw(st.sampled_from(formats or list(gpu.dtypes())))
    tp, ep, per_rank = (draw(st.sampled_from([1, 2, 4, 8])) for _ in range(3))
    experts = ep * per_rank
    return gpu, FusedMoe(
        tokens=draw(extent),
        hidden=draw(extent),
        inter=tp * draw(extent),
        experts=experts,
        topk=draw(st.integers(1, experts)),
        tp=tp,
        ep=ep,
        gated=draw(st.booleans()),
        dtype=dtype,
        engine=name if formats else "plain",
        distribution=draw(st.sampled_from(["balanced", "power_law_1.2"])),
    )


def _has(engine, dtype, gpu):
    try:
        resolve("fused_moe", dtype, gpu.compute_capability, engine, None)
        gpu.math_pipe(dtype)
    except synperf.UnsupportedError:
        return False
    return True


@given(calls())
@settings(max_examples=300)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    e = predict(call, gpu)
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < float("inf")
    assert 0 < e.efficiency < float("inf")


@given(calls(), st.sampled_from(SIZES), st.floats(0, 1))
@settings(max_examples=600)
def test_time_never_falls_when_a_size_grows(drawn, name, how):
    gpu, call = drawn
    if name == "topk" and call.distribution != "balanced":  # which changes what each expert is drawn
        return
    size, step = getattr(call, name), call.tp if name == "inter" else 1
    most = call.experts if name == "topk" else 2**31 - step
    larger = min(most, size + step * (1 + int(how * size)))
    before, after = predict(call, gpu), predict(replace(call, **{name: larger}), gpu)
    for bound in ("time_s", "low_s", "high_s"):
        assert getattr(after, bound) >= getattr(before, bound) * (1 - 1e-12)  # rounding of equal times


@pytest.mark.parametrize("key", ["a100_sxm", "h100_sxm", "b200_sxm", "l40s"])
@pytest.mark.parametrize("distribution", ["balanced", "power_law_1.01"])
def test_time_never_falls_along_a_fine_ladder_of_tokens(key, distribution):
    ladder = np.arange(1, 5000)
    for experts, topk, ep in ((8, 2, 1), (64, 6, 4), (128, 8, 16)):
        call = FusedMoe(
            tokens=ladder, hidden=2048, inter=1024, experts=experts, topk=topk, ep=ep, distribution=distribution
        )
        laws.require_rising(call, key)


@given(calls())
@settings(max_examples=300)
def test_a_batch_of_one_equals_the_scalar(drawn):
    gpu, call = drawn
    columns = {name: np.array([getattr(call, name)]) for name in ("tokens", "hidden", "inter", "experts", "topk")}
    one, many = predict(call, gpu), predict(replace(call, **columns), gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


@given(calls())
@settings(max_examples=300)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    launches, f = MOE.decompose(call, gpu).launches(), features(MOE, call, gpu)
    padded = sum(g.count * (g.tensor_flop + g.fma_flop) for g in launches)
    assert padded >= f.flop * (1 - 1e-12)
    assert f.padding == pytest.approx(f.flop / padded, rel=1e-12)
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * (1 - 1e-12)
    assert f.dram_bytes >= f.compulsory_bytes * (1 - 1e-12)


@given(calls())
@settings(max_examples=200)
def test_the_cost_of_a_tile_is_the_slowest_pipe_of_the_features(drawn):
    gpu, call = drawn
    own, f = loads(call), features(MOE, call, gpu)
    slowest_s = max(f.pipes[name].sm_max_s for name in ("tensor", "fma", "l2", "shared"))
    assert cost(passes(call), own, gpu, call.dtype, tiling(call, own, gpu).choice) == pytest.approx(slowest_s, rel=1e-9)


@pytest.mark.parametrize("gated", [True, False])
def test_a_balanced_ep_shard_has_its_part_of_the_expert_work(gated):
    whole = FusedMoe(tokens=4096, hidden=2048, inter=1024, experts=64, topk=8, gated=gated)
    shard = replace(whole, ep=8)
    for work in (MOE.flop, MOE.compulsory_bytes):
        assert work(shard) == pytest.approx(work(whole) / 8, rel=1e-12)
    h100 = synperf.gpu("h100_sxm")
    parts = [sum(g.count * g.tensor_flop for g in MOE.decompose(c, h100).launches()) for c in (whole, shard)]
    assert parts[1] == pytest.approx(parts[0] / 8, rel=1e-12)


@pytest.mark.parametrize("gated", [True, False])
def test_one_expert_is_the_two_gemms_that_it_is_made_of(gated):
    call = FusedMoe(tokens=4096, hidden=4096, inter=8192, experts=1, topk=1, gated=gated, engine="plain")
    up = Gemm(m=4096, n=8192 * (2 if gated else 1), k=4096, engine="plain")
    down = Gemm(m=4096, n=4096, k=8192, engine="plain")
    gemm = family("gemm")
    assert MOE.flop(call) == gemm.flop(up) + gemm.flop(down)
    for key in ("a100_sxm", "h100_sxm", "b200_sxm"):
        moe_s = features(MOE, call, synperf.gpu(key)).pipes["tensor"].sm_max_s
        gemm_s = sum(features(gemm, g, synperf.gpu(key)).pipes["tensor"].sm_max_s for g in (up, down))
        assert moe_s == pytest.approx(gemm_s, rel=0.05)  # tiles may differ, whole waves of them hardly


def test_only_weights_of_experts_that_have_rows_are_read():
    few = FusedMoe(tokens=1, hidden=4096, inter=1024, experts=256, topk=8)
    assert MOE.compulsory_bytes(few) == 8 * 3 * 4096 * 1024 * 2 + 2 * 4096 * 2
    int4 = replace(few, dtype="int4")
    assert MOE.compulsory_bytes(int4) == 8 * 3 * 4096 * 1024 * (0.5 + 2 / 128) + 2 * 4096 * 2


def test_the_first_pass_alone_is_the_gate_and_up_matrix():
    call = FusedMoe(tokens=512, hidden=2048, inter=768, experts=32, topk=4, engine="sglang", kernel="triton_w13")
    both = replace(call, kernel="triton_moe")
    assert MOE.flop(call) == 2 * 2048 * 2048 * 2 * 768
    assert MOE.flop(both) == 1.5 * MOE.flop(call)
    assert len(MOE.decompose(call, synperf.gpu("a100_sxm")).launches()) == 1
    assert predict(call, "a100_sxm").time_s < predict(both, "a100_sxm").time_s


def test_tiles_have_the_rows_of_the_routing():
    call = FusedMoe(tokens=100, hidden=256, inter=256, experts=4, topk=1, tokens_per_expert=[97, 1, 2, 0])
    own, a100 = loads(call), synperf.gpu("a100_sxm")
    t = MOE.decompose(call, a100)
    choice = MOE.launch(call, a100).choice
    blocks = sum(-(-n // choice["tile_m"]) for n in (97, 1, 2))
    assert t.count == blocks * -(-512 // choice["tile_n"])
    assert own.tiles[choice["tile_m"]] == blocks


def test_a_hot_expert_costs_its_padding_and_explain_says_so():
    even = FusedMoe(tokens=256, hidden=4096, inter=2048, experts=8, topk=1)
    hot = replace(even, tokens_per_expert=[249, 1, 1, 1, 1, 1, 1, 1])
    facts = synperf.explain(hot, "h100_sxm", origin="analytical").to_dict()["facts"]
    assert (facts["hottest_expert_rows"], facts["active_experts"], facts["rank_rows"]) == (249, 8, 256)
    assert facts["row_padding"] >= 1
    assert facts["hottest_over_mean"] == pytest.approx(249 / 32)


def test_the_busiest_rank_is_in_the_text():
    call = FusedMoe(tokens=256, hidden=1024, inter=512, experts=16, topk=2, ep=4, distribution="power_law_1.2")
    shown = to_text(synperf.explain(call, "h100_sxm", origin="analytical"))
    for label in ("busiest rank", "active experts", "hottest expert", "padding", "then"):
        assert f"\n{label}" in shown


@given(calls())
@settings(max_examples=200)
def test_inputs_of_a_network_are_positive_and_a_column_has_those_of_its_rows(drawn):
    gpu, call = drawn
    one = MOE.inputs(call, gpu, 1e-4, 0.9)
    assert 25 <= len(one) <= 40
    assert all(0 < value < float("inf") for value in one.values())
    columns = {name: np.array([getattr(call, name)] * 2) for name in ("tokens", "hidden", "inter")}
    many = MOE.inputs(replace(call, **columns), gpu, np.array([1e-4, 1e-4]), 0.9)
    for name, value in one.items():
        assert np.broadcast_to(many[name], 2)[1] == value, name
