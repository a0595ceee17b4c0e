"""Laws of the memory-bound families on every catalog GPU and random calls."""

from contextlib import suppress
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf.estimators.analytical import slowest
from synperf.features import features
from synperf.hardware import keys
from synperf.hardware.rates import rates
from synperf.kernels import families
from synperf.kernels.dispatch import engines, resolve
from synperf.kernels.memory_traits import facts

from . import laws

FAMILIES = sorted(name for name, kind in families().items() if kind.is_memory_bound)
ROWS = [name for name in FAMILIES if name != "elementwise"]
WHOLE = 64  # values: 16 bytes of any format, and whole blocks of scales
COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter")
RESOURCES = ("num_sms", "clock_hz", "dram_bytes_per_s", "l2_bytes", "l2_bytes_per_s", "shared_bytes_per_clk_per_sm")
sizes = st.one_of(st.integers(1, 40), st.integers(1, 20_000), st.integers(1, 2**31 - 1))
gpu_keys = st.sampled_from(keys())


@st.composite
def calls(draw, names=FAMILIES):
    """A GPU and a call of any family, with fields of its own, of any engine that has a kernel for it."""
    gpu, kind = synperf.gpu(draw(gpu_keys)), families()[draw(st.sampled_from(list(names)))]
    known, given_fields = facts(kind.name), kind.field_names()
    values = {"dtype": draw(st.sampled_from(known.dtypes))}
    if kind.name == "elementwise":
        values |= {"elements": draw(st.one_of(sizes, st.integers(1, 2**53)))}
        values |= {name: draw(st.integers(1, 9)) for name in ("inputs", "outputs", "flop_per_element")}
    else:
        values |= {"rows": draw(sizes), "dim": _dim(draw(sizes), kind.name)}
    if "residual" in given_fields:
        values["residual"] = draw(st.booleans())
    if "axis" in given_fields:
        values["axis"] = draw(st.sampled_from([-2, -1, 0, 1]))
    if "top_k" in given_fields:
        values["top_k"] = draw(st.one_of(st.none(), st.integers(1, values["dim"])))
    if kind.name == "embedding":
        values["vocab"] = draw(st.one_of(st.none(), sizes))
    call = kind.call_type(**values)
    if known.quant_dtypes and draw(st.booleans()):
        written = draw(st.sampled_from([d for d in known.quant_dtypes if d.bytes <= call.dtype.bytes]))
        call = replace(
            call, dim=-(-call.dim // WHOLE) * WHOLE if call.dim < 2**31 - WHOLE else WHOLE, quant_dtype=written
        )
    return gpu, replace(call, engine=draw(st.sampled_from(_engines(kind.name, call.dtype, gpu.compute_capability))))


def _engines(family, dtype, compute_capability):
    """Engines that have a kernel of the family for the format on such GPUs."""
    found = []
    for name in engines():
        with suppress(synperf.UnsupportedError):
            found.append(resolve(family, dtype, compute_capability, name, None)[0])
    return found


def _dim(dim, family):
    return dim + dim % 2 if family == "rope" and dim < 2**31 - 1 else dim - dim % 2 if family == "rope" else dim


def _predict(call, gpu):
    return synperf.predict(call, gpu, origin="analytical")


@given(calls())
@settings(max_examples=400)
def test_estimates_are_finite_ordered_and_not_below_the_floor(drawn):
    gpu, call = drawn
    e = _predict(call, gpu)
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < float("inf")
    assert 0 < e.efficiency <= 1


@pytest.mark.parametrize("key", keys())
@pytest.mark.parametrize("name", ROWS)
def test_one_row_and_a_million_rows_are_finite_and_in_order(name, key):
    rows = np.array([1, 2, 1000, 1_000_000])
    e = _predict(families()[name].call_type(rows=rows, dim=4096), synperf.gpu(key))
    assert (e.time_s >= e.floor_s).all()
    assert np.isfinite(e.time_s).all()
    assert (np.diff(e.time_s) >= 0).all()


@given(calls(), st.floats(0, 1))
@settings(max_examples=400)
def test_time_never_falls_when_rows_or_elements_grow(drawn, how):
    gpu, call = drawn
    name, most = ("elements", 2**53) if hasattr(call, "elements") else ("rows", 2**31 - 1)
    size = getattr(call, name)
    more = replace(call, **{name: min(most, size + 1 + int(how * size))})
    before, after = _predict(call, gpu), _predict(more, gpu)
    for bound in ("time_s", "low_s", "high_s"):
        assert getattr(after, bound) >= getattr(before, bound) * (1 - 1e-12)


@given(calls(ROWS), st.integers(1, 2000), st.floats(0, 1))
@settings(max_examples=400)
def test_time_never_falls_in_dim_of_one_alignment_but_for_what_one_cta_moves(drawn, blocks, how):
    """Rows of whole sectors; where a row outgrows its threads, CTAs take fewer rows, and the busiest SM has less."""
    gpu, call = drawn
    others = {"vocab": None} if hasattr(call, "vocab") else {}
    others |= {"top_k": min(call.top_k, blocks * WHOLE)} if getattr(call, "top_k", None) else {}
    call = replace(call, dim=blocks * WHOLE, **others)
    longer = replace(call, dim=(blocks + 1 + int(how * blocks)) * WHOLE)
    one = replace(call, rows=families()[call.FAMILY].launch(call, gpu).choice["rows_per_cta"])
    of_one_cta = slowest(features(families()[call.FAMILY], one, gpu), 0.0)[1]
    assert _predict(longer, gpu).time_s >= (_predict(call, gpu).time_s - of_one_cta) * (1 - 1e-12)


@given(st.sampled_from(["rmsnorm", "softmax", "silu_mul", "copy"]), st.integers(1, 9000), st.integers(1, 500), gpu_keys)
@settings(max_examples=200)
def test_a_row_that_is_aligned_is_not_slower_than_a_longer_one_that_is_not(name, rows, blocks, key):
    gpu, call = synperf.gpu(key), families()[name].call_type(rows=rows, dim=blocks * WHOLE)
    odd = replace(call, dim=call.dim + 1)
    even, uneven = features(families()[name], call, gpu).pipes, features(families()[name], odd, gpu).pipes
    for pipe in ("dram", "l2", "shared"):
        assert uneven[pipe].gpu_s >= even[pipe].gpu_s * (1 - 1e-12)


@given(calls())
@settings(max_examples=400)
def test_work_on_the_sms_is_all_the_work(drawn):
    gpu, call = drawn
    kind = families()[call.FAMILY]
    groups, f = kind.decompose(call, gpu), features(kind, call, gpu)
    known = facts(kind.name)
    assert groups.count * groups.fma_flop == pytest.approx(f.flop * known.executed, rel=1e-9)
    assert groups.count * (groups.load_bytes + groups.store_bytes) >= f.compulsory_bytes * (1 - 1e-9)
    assert f.load.sm_max_tasks <= f.load.tasks * (1 + 1e-9)
    for demand in f.pipes.values():
        assert demand.sm_max_s >= demand.gpu_s * (1 - 1e-9)


@given(calls())
@settings(max_examples=300)
def test_a_column_of_one_equals_the_single_call(drawn):
    gpu, call = drawn
    numbers = [f.name for f in fields(call) if f.type == "Any" and getattr(call, f.name) is not None]
    many = _predict(replace(call, **{name: np.array([getattr(call, name)]) for name in numbers}), gpu)
    one = _predict(call, gpu)
    for name in COLUMNS:
        assert getattr(many, name)[0] == getattr(one, name), name


@given(calls(), st.sampled_from(RESOURCES), st.floats(1.001, 20))
@settings(max_examples=400)
def test_more_of_any_resource_never_slows_a_kernel(drawn, field, factor):
    gpu, call = drawn
    more = synperf.what_if(gpu, [f"{field}={factor}x"])
    before, after = _predict(call, gpu), _predict(call, more)
    assert after.time_s <= before.time_s * (1 + 1e-12)


@given(st.integers(1, 40_000), st.integers(1, 2000), st.sampled_from(["bf16", "fp32"]), gpu_keys, st.floats(1.001, 20))
@settings(max_examples=300)
def test_more_sms_slow_no_launch_whose_ctas_may_walk_over_the_array(rows, blocks, dtype, key, factor):
    gpu = synperf.gpu(key)
    for written in ("fp8", "nvfp4"):
        call = synperf.Quantize(rows=rows, dim=blocks * WHOLE, dtype=dtype, quant_dtype=written, engine="trtllm")
        with suppress(synperf.UnsupportedError):
            laws.require_never_slower(call, gpu, "num_sms", factor)


def test_ctas_that_more_sms_would_hold_are_not_started_for_it():
    call = synperf.Quantize(rows=30, dim=83_072, dtype="fp32", quant_dtype="nvfp4", engine="trtllm")
    laws.require_never_slower(call, synperf.gpu("gb200"), "num_sms", 2)  # of 1,217 CTAs, 1,216 fit at once on one


@given(calls())
@settings(max_examples=200)
def test_loads_are_as_wide_as_rows_are_aligned(drawn):
    gpu, call = drawn
    found = families()[call.FAMILY].launch(call, gpu)
    assert found.choice["vector_bytes"] in (1, 2, 4, 8, 16)
    assert gpu.warp_size <= found.threads <= gpu.max_threads_per_cta
    assert found.occupancy.ctas_per_sm == families()[call.FAMILY].decompose(call, gpu).ctas_per_sm


@pytest.mark.parametrize("name", FAMILIES)
def test_the_roof_is_the_slowest_of_all_pipes(name):
    gpu, kind = synperf.gpu("h100_sxm"), families()[name]
    f = features(kind, kind.example, gpu)
    assert f.roofline_s == max(demand.gpu_s for demand in f.pipes.values())
    assert rates(gpu, kind.math(kind.example)).peak_flop_per_s == gpu.peak_flop_per_s(synperf.DType.FP32)
