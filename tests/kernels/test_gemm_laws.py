"""Laws of GEMM on every catalog GPU and random shapes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import Gemm
from synperf.estimators.analytical import slowest
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.gemm_tiling import choose
from synperf.numeric import is_array

GEMM = family("gemm")
extent = st.one_of(st.integers(1, 300), st.integers(1, 40_000), st.integers(1, 2**31 - 1))
gpu_keys = st.sampled_from(keys())
RESOURCES = ("num_sms", "clock_hz", "dram_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "shared_bytes_per_clk_per_sm")
COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")

predict = partial(synperf.predict, origin="analytical")  # whose laws these are; a learned time may fall in m


@st.composite
def calls(draw):
    gpu = synperf.gpu(draw(gpu_keys))
    dtype = draw(st.sampled_from(gpu.dtypes()))
    m, n, k = draw(extent), draw(extent), draw(extent)
    batch = draw(st.one_of(st.just(1), st.integers(1, 64)))
    return gpu, Gemm(m=m, n=n, k=k, batch=batch, dtype=dtype, engine="plain")


@given(calls())
@settings(max_examples=300)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    e = predict(call, gpu)
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < float("inf")
    assert 0 < e.efficiency < float("inf")


@given(calls(), st.sampled_from(["m", "n", "k", "batch"]), st.floats(0, 1))
@settings(max_examples=600)
def test_time_never_falls_when_a_size_grows(drawn, name, how):
    gpu, call = drawn
    size = getattr(call, name)
    larger = min(2**31 - 1, size + 1 + int(how * size))
    before, after = predict(call, gpu), predict(replace(call, **{name: larger}), gpu)
    for bound in ("time_s", "low_s", "high_s"):
        assert getattr(after, bound) >= getattr(before, bound) * (1 - 1e-12)  # rounding of equal times


@pytest.mark.parametrize("key", keys())
def test_time_never_falls_along_a_fine_ladder_of_every_size(key):
    gpu = synperf.gpu(key)
    ladder = np.arange(1, 3000)
    for dtype in gpu.dtypes():
        for fixed in ((17, 4096), (300, 1000), (4096, 70)):
            for name in ("m", "n", "k", "batch"):
                others = dict(zip([x for x in ("m", "n", "k") if x != name], (*fixed, 64), strict=False))
                times = predict(Gemm(**{name: ladder, "dtype": dtype, "engine": "plain", **others}), gpu).time_s
                assert (np.diff(times) >= -1e-12 * times[1:]).all()


@given(calls())
@settings(max_examples=300)
def test_a_batch_of_one_equals_the_scalar(drawn):
    gpu, call = drawn
    columns = replace(
        call, m=np.array([call.m]), n=np.array([call.n]), k=np.array([call.k]), batch=np.array([call.batch])
    )
    one, many = predict(call, gpu), predict(columns, gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


@given(calls())
@settings(max_examples=300)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    groups, f = GEMM.decompose(call, gpu), features(GEMM, call, gpu)
    assert f.load.tasks * (groups.tensor_flop + groups.fma_flop) >= f.flop * (1 - 1e-12)  # padding only adds
    assert f.padding <= 1 + 1e-12
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * (1 - 1e-12)
    assert f.dram_bytes >= f.compulsory_bytes


@given(calls())
@settings(max_examples=200)
def test_the_chosen_tile_costs_least_of_all_that_could_be_given(drawn):
    gpu, call = drawn
    own = ("tensor", "fma", "l2", "shared")

    def cost(c):
        f = features(GEMM, c, gpu)
        return max(f.pipes[name].sm_max_s for name in own) + f.serial_s

    chosen = cost(call)
    for tile_m, tile_n in ((128, 128), (64, 128), (64, 64)):
        assert chosen <= cost(replace(call, tile_m=tile_m, tile_n=tile_n)) * (1 + 1e-9)


@given(calls())
@settings(max_examples=200)
def test_a_given_tile_is_used_as_it_is(drawn):
    gpu, call = drawn
    t = choose(replace(call, k=max(call.k, 33), tile_m=64, tile_n=64, tile_k=32, split_k=2), gpu)
    assert (t.tile_m, t.tile_n, t.tile_k, t.split_k, t.source) == (64, 64, 32, 2, "given")


@given(
    st.lists(
        st.tuples(st.integers(1, 9000), st.integers(1, 9000), st.integers(1, 9000), st.sampled_from([0, 64, 128])),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=50)
def test_columns_of_given_tiles_equal_the_single_calls(rows):
    gpu = synperf.gpu("a100_sxm")
    rows = [(m, n, k, t or 128) for m, n, k, t in rows]
    m, n, k, t = (np.array(column) for column in zip(*rows, strict=True))
    many = predict(Gemm(m=m, n=n, k=k, tile_m=t, tile_n=t), gpu)
    for i, (m, n, k, t) in enumerate(rows):
        assert many.time_s[i] == predict(Gemm(m=m, n=n, k=k, tile_m=t, tile_n=t), gpu).time_s


@given(calls(), st.floats(1.01, 8))
@settings(max_examples=300)
def test_more_bandwidth_changes_only_dram_time(drawn, factor):
    gpu, call = drawn
    faster = synperf.what_if(gpu, [f"dram_bytes_per_s={factor}x"])
    before, after = features(GEMM, call, gpu), features(GEMM, call, faster)
    assert after.pipes["dram"].sm_max_s == pytest.approx(before.pipes["dram"].sm_max_s / factor, rel=1e-12)
    for name in ("tensor", "fma", "l2", "shared"):
        assert after.pipes[name].sm_max_s == before.pipes[name].sm_max_s
    saved = slowest(before, 0.0)[1] - slowest(after, 0.0)[1]
    times = [predict(call, g).time_s for g in (gpu, faster)]
    assert times[0] - times[1] == pytest.approx(saved, rel=1e-9, abs=1e-15)


def test_chunks_of_a_long_column_equal_the_column():
    gpu = synperf.gpu("h100_sxm")
    m = np.arange(1, 50_001)
    whole = predict(Gemm(m=m, n=4096, k=512), gpu)
    assert is_array(whole.time_s)
    assert len(whole) == 50_000
    for i in (0, 16_383, 16_384, 49_999):
        assert whole.time_s[i] == predict(Gemm(m=int(m[i]), n=4096, k=512), gpu).time_s


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=500)
def test_more_of_any_resource_never_slows_a_kernel(drawn, field, factor):
    gpu, call = drawn
    more = synperf.what_if(gpu, [f"{field}={factor}x"])
    before, after = predict(call, gpu), predict(call, more)
    for bound in ("time_s", "low_s", "high_s"):
        assert getattr(after, bound) <= getattr(before, bound) * (1 + 1e-12)


@given(calls(), st.integers(1, 5000))
@settings(max_examples=200)
def test_no_slice_of_k_is_empty(drawn, split_k):
    gpu, call = drawn
    for t in (choose(call, gpu), choose(replace(call, split_k=split_k), gpu)):
        assert (t.split_k - 1) * t.k_per_task < call.k <= t.split_k * t.k_per_task
        assert t.split_k <= split_k or t.split_k * t.tiles <= gpu.num_sms
