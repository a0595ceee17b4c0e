"""Grouped GEMM: worked out by hand, beside the GEMMs that it is made of, and laws."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import Gemm, GroupedGemm
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family

GROUPED = family("grouped_gemm")
groups = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 5000)), min_size=1, max_size=12).filter(any)
extent = st.integers(1, 20_000)
predict = partial(synperf.predict, origin="analytical")


@st.composite
def calls(draw):
    gpu = synperf.gpu(draw(st.sampled_from(keys())))
    dtype = draw(st.sampled_from(gpu.dtypes()))
    return gpu, GroupedGemm(m_per_group=draw(groups), n=draw(extent), k=draw(extent), dtype=dtype, engine="plain")


def test_work_and_bytes_are_those_of_the_groups_with_rows():
    call = GroupedGemm(m_per_group=(100, 0, 28), n=256, k=512)
    assert GROUPED.flop(call) == 2 * 128 * 256 * 512
    assert GROUPED.compulsory_bytes(call) == 2 * (128 * 512 + 2 * 512 * 256 + 128 * 256)


def test_each_group_pads_its_own_last_block():
    launch = GROUPED.launch(GroupedGemm(m_per_group=(1, 1, 130), n=128, k=64), synperf.gpu("a100_sxm"))
    tile_m = launch.choice["tile_m"]
    assert launch.grid[1] == 2 + -(-130 // tile_m)
    assert launch.facts["padded_rows"] == launch.grid[1] * tile_m


@given(calls())
@settings(max_examples=200)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    e, f = predict(call, gpu), features(GROUPED, call, gpu)
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < float("inf")
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * (1 - 1e-12)
    assert f.padding <= 1 + 1e-12


@given(calls(), st.integers(0, 11), st.integers(1, 3000))
@settings(max_examples=300)
def test_time_never_falls_when_a_group_or_an_extent_grows(drawn, at, more):
    gpu, call = drawn
    rows = list(call.m_per_group)
    rows[at % len(rows)] += more
    before = predict(call, gpu).time_s
    for larger in ({"m_per_group": tuple(rows)}, {"n": call.n + more}, {"k": call.k + more}):
        assert predict(replace(call, **larger), gpu).time_s >= before * (1 - 1e-12)


@given(calls(), st.randoms())
@settings(max_examples=100)
def test_the_order_of_groups_is_irrelevant(drawn, random):
    gpu, call = drawn
    rows = list(call.m_per_group)
    random.shuffle(rows)
    assert predict(replace(call, m_per_group=tuple(rows)), gpu).time_s == predict(call, gpu).time_s


@given(calls())
@settings(max_examples=200)
def test_columns_equal_single_calls(drawn):
    gpu, call = drawn
    many = predict(replace(call, n=np.array([call.n, 64]), k=np.array([call.k, 64])), gpu)
    assert many.time_s[0] == predict(call, gpu).time_s
    assert all(0 < value < float("inf") for value in GROUPED.inputs(call, gpu, 1e-4, 0.9).values())


@pytest.mark.parametrize("key", ["a100_sxm", "h100_sxm", "b200_sxm"])
def test_one_group_is_a_gemm(key):
    gpu, gemm = synperf.gpu(key), family("gemm")
    call, one = GroupedGemm(m_per_group=(4096,), n=8192, k=4096, engine="plain"), Gemm(m=4096, n=8192, k=4096)
    assert GROUPED.flop(call) == gemm.flop(one)
    assert GROUPED.compulsory_bytes(call) == gemm.compulsory_bytes(one)
    own, whole = (features(kind, c, gpu).pipes["tensor"].sm_max_s for kind, c in ((GROUPED, call), (gemm, one)))
    assert own == pytest.approx(whole, rel=0.05)
