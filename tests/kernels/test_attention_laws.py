"""Laws of attention on every catalog GPU, on random shapes, masks, lists and kernels."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import synperf
from synperf import Attention, UnsupportedError
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.attention_call import MATH

from . import laws

ATTENTION = family("attention")
length = st.one_of(st.integers(1, 300), st.integers(1, 9000), st.integers(1, 2_000_000))
COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")
RESOURCES = ("num_sms", "clock_hz", "dram_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "shared_bytes_per_clk_per_sm",
             "xu_op_per_clk_per_sm")  # fmt: skip
KERNELS = (("plain", None), ("vllm", None), ("sglang", None), ("trtllm", None), ("torch", None), ("vllm", "flashinfer"))
SIZES = ("batch", "q_len", "kv_len", "heads", "kv_heads")

predict = partial(synperf.predict, origin="analytical")


@st.composite
def calls(draw):
    gpu = synperf.gpu(draw(st.sampled_from(keys())))
    engine, kernel = draw(st.sampled_from(KERNELS))
    kv_len, kv_heads = draw(length), draw(st.sampled_from([1, 2, 5, 8]))
    call = Attention(
        batch=draw(st.one_of(st.just(1), st.integers(1, 300))),
        q_len=draw(st.one_of(st.just(1), st.just(kv_len), st.integers(1, kv_len))),
        kv_len=kv_len,
        heads=kv_heads * draw(st.sampled_from([1, 2, 4, 7, 16])),
        kv_heads=kv_heads,
        head_dim=draw(st.sampled_from([64, 80, 128, 192, 256, 512])),
        causal=draw(st.booleans()),
        window=draw(st.one_of(st.just(0), st.integers(1, 3000))),
        dtype=draw(st.sampled_from([d for d in gpu.dtypes() if d in MATH])),
        engine=engine,
        kernel=kernel,
    )
    try:
        predict(call, gpu)
    except UnsupportedError:  # the engine has no kernel for the format, or it does not run there
        assume(False)
    return gpu, call


def listed(call, pairs):
    q_lens, kv_lens = zip(*pairs, strict=True)
    return replace(call, batch=1, q_len=None, kv_len=None, q_lens=list(q_lens), kv_lens=list(kv_lens))


lists = st.lists(st.tuples(length, length).map(sorted), min_size=1, max_size=10)


def never_less(after, before):
    return all(getattr(after, b) >= getattr(before, b) * (1 - 1e-12) for b in ("time_s", "low_s", "high_s"))


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
    size = getattr(call, name)
    larger = size + 1 + int(how * size)
    changes = {name: larger}
    if name == "q_len":
        changes["kv_len"] = max(call.kv_len, larger)
    if name == "heads":  # more heads to share the same keys
        changes["heads"] = call.kv_heads * (call.heads // call.kv_heads + 1 + int(3 * how))
    if name == "kv_heads":  # more groups of the same size
        changes["heads"] = call.heads // call.kv_heads * larger
    assert never_less(predict(replace(call, **changes), gpu), predict(call, gpu))


@given(calls())
@settings(max_examples=300)
def test_a_mask_or_window_never_makes_it_longer(drawn):
    gpu, call = drawn
    before = predict(call, gpu)
    assert never_less(predict(replace(call, causal=False), gpu), before)
    if call.window:
        assert never_less(predict(replace(call, window=0), gpu), before)
        assert never_less(predict(replace(call, window=call.window + 1), gpu), before)


@pytest.mark.parametrize("key", keys())
def test_time_never_falls_along_a_fine_ladder_of_every_length(key):
    gpu = synperf.gpu(key)
    dtype = "fp32" if gpu.cc < (7, 0) else "fp16"
    ladder = np.arange(1, 3000)
    for group in (1, 8):
        given = {"heads": 8, "kv_heads": 8 // group, "head_dim": 128, "dtype": dtype, "engine": "plain"}
        for kind in (
            Attention(q_len=1, kv_len=ladder, **given),
            Attention(q_len=ladder, kv_len=ladder, **given),
            Attention(q_len=ladder, kv_len=3000, **given),
            Attention(q_len=300, kv_len=ladder + 300, window=500, **given),
            Attention(batch=ladder, q_len=1, kv_len=1000, **given),
            Attention(batch=ladder, q_len=500, kv_len=500, **given),
        ):
            laws.require_rising(kind, gpu)


@given(calls())
@settings(max_examples=300)
def test_a_batch_of_one_equals_the_scalar(drawn):
    gpu, call = drawn
    fields = ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "v_head_dim", "window")
    columns = replace(call, **{name: np.array([getattr(call, name)]) for name in fields})
    one, many = predict(call, gpu), predict(columns, gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


@given(calls(), st.integers(1, 40))
@settings(max_examples=200)
def test_a_list_of_equal_requests_equals_the_batch(drawn, requests):
    gpu, call = drawn
    one = predict(replace(call, batch=requests), gpu)
    assert predict(listed(call, [(call.q_len, call.kv_len)] * requests), gpu).time_s == one.time_s


@given(calls(), lists, st.randoms())
@settings(max_examples=200)
def test_the_order_of_requests_is_irrelevant(drawn, pairs, random):
    gpu, call = drawn
    shuffled = random.sample(pairs, len(pairs))
    assert predict(listed(call, shuffled), gpu).time_s == predict(listed(call, pairs), gpu).time_s


@given(calls(), lists, st.integers(0, 9), st.integers(1, 5000))
@settings(max_examples=300)
def test_one_request_more_or_longer_never_makes_it_shorter(drawn, pairs, at, more):
    gpu, call = drawn
    at %= len(pairs)
    q_len, kv_len = pairs[at]
    before = predict(listed(call, pairs), gpu)
    for grown in ((q_len, kv_len + more), (min(q_len + more, kv_len), kv_len)):
        assert never_less(predict(listed(call, [*pairs[:at], grown, *pairs[at + 1 :]]), gpu), before)
    assert never_less(predict(listed(call, [*pairs, (1, more)]), gpu), before)


@given(calls(), lists)
@settings(max_examples=100)
def test_a_list_beside_a_column_equals_each_call(drawn, pairs):
    gpu, call = drawn
    call = listed(call, pairs)
    heads = [call.kv_heads, 2 * call.kv_heads]
    many = predict(replace(call, heads=heads), gpu)
    for i, one in enumerate(heads):
        single = predict(replace(call, heads=one), gpu).time_s
        assert many.time_s[i] == pytest.approx(single, rel=1e-12)  # the number of parts may differ, not their sum


@given(calls())
@settings(max_examples=300)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    f = features(ATTENTION, call, gpu)
    assert f.padding <= 1 + 1e-12  # padding only adds
    assert f.load.imbalance >= 1 - 1e-12
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * (1 - 1e-12)
    assert f.dram_bytes >= f.compulsory_bytes


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=400)
def test_more_of_any_resource_never_slows_a_kernel(drawn, field, factor):
    gpu, call = drawn
    more = synperf.what_if(gpu, [f"{field}={factor}x"])
    assert never_less(predict(call, gpu), predict(call, more))


@pytest.mark.parametrize("q_lens", [[1] * 4096, list(range(1, 4097)), [1] * 4095 + [2_000_000_000]])
def test_long_lists_and_long_requests_are_answered(q_lens):
    call = Attention(q_lens=q_lens, kv_lens=[q + 100 for q in q_lens], heads=32, kv_heads=8, head_dim=128)
    assert 0 < predict(call, "h100_sxm").time_s < float("inf")
