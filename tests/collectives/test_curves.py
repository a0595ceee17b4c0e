"""Curves: monotone, faithful to what they were fitted to, and in proportion beyond it."""

from itertools import product

import numpy as np
import pytest

from synperf.collectives import records
from synperf.collectives.algorithms import Term
from synperf.collectives.curves import Correction, Curve, Interval, rising

EXACT = Interval(low=1.0, high=1.0)
CURVES = [(gpu, curve) for gpu in records.measured() for curve in records.curves(gpu)]


def toy(*corrections):
    ring = Term(algorithm="ring", protocol="simple", base_s=1e-6, hop_s=1e-6, network_hop_s=1e-6, s_per_byte=1e-9)
    return Curve(
        engine="toy", kernel="toy", version="1", source="toy", operation="all_gather", dtype="bf16", link="nvlink4",
        terms=(ring,), corrections=corrections, known=EXACT, other_ranks=EXACT,
    )  # fmt: skip


def correction(ranks, *ratios):
    logs = tuple(np.log(ratios).tolist())
    return Correction(ranks=ranks, nodes=1, low_bytes=1024, high_bytes=2**20, first=10, step=10, log_ratios=logs)


def test_at_a_knot_the_time_is_that_of_the_terms_times_its_ratio():
    curve = toy(correction(2, 2.0, 3.0))
    expected = [2 * (2e-6 + 512e-9), 3 * (2e-6 + 2**19 * 1e-9)]
    assert curve.time_s(np.array([2.0**10, 2.0**20]), 2, 1) == pytest.approx(expected)


def test_beyond_the_knots_the_last_ratio_holds():
    curve = toy(correction(2, 2.0, 3.0))
    assert curve.time_s(np.array([2.0**40]), 2, 1) == pytest.approx([3 * (2e-6 + 2**39 * 1e-9)], rel=1e-6)


def test_ratios_that_would_make_a_longer_message_faster_are_pooled():
    curve = toy(correction(2, 1000.0, 1.0))
    few, many = curve.time_s(np.array([2.0**10, 2.0**20]), 2, 1)
    assert few <= many


def test_between_measured_numbers_of_ranks_ratios_are_mixed_by_the_logarithm():
    curve = toy(correction(2, 2.0, 2.0), correction(8, 8.0, 8.0))
    base = curve.terms_s(np.array([2.0**15]), 4, 1)
    assert curve.time_s(np.array([2.0**15]), 4, 1) == pytest.approx(base * 4.0, rel=1e-6)


def test_rising_pools_what_falls():
    assert rising(np.array([1.0, 4.0, 2.0, 5.0])).tolist() == [1.0, 3.0, 3.0, 5.0]


@pytest.mark.parametrize("gpu", records.measured())
def test_a_longer_message_is_never_faster(gpu):
    sizes = np.exp2(np.linspace(5, 45, 400))
    for curve in records.curves(gpu):
        shapes = {*curve.shapes, *((n, 1) for n in (2, 3, 6, 16, 72) if not curve.network)}
        for ranks, nodes in shapes:
            times = curve.time_s(sizes, ranks, nodes)
            assert (np.diff(times) >= -1e-12 * times[1:]).all(), (curve.kernel, curve.operation, ranks)
            assert np.isfinite(times).all()
            assert (times > 0).all()


def test_there_are_curves_of_every_operation_that_was_measured():
    found = {curve.operation for _, curve in CURVES}
    expected = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "moe_dispatch", "moe_combine"}
    assert found == expected


@pytest.mark.parametrize("gpu", records.measured())
def test_a_curve_says_where_it_comes_from(gpu):
    for curve in records.curves(gpu):
        said_and_held(curve)


def said_and_held(curve):
    assert {"rows", "date", "command", "how"} <= set(curve.provenance)
    assert curve.known.low < 1 < curve.known.high
    assert curve.other_ranks.low <= curve.known.low
    assert curve.known.high <= curve.other_ranks.high


def test_curves_are_told_apart_by_what_they_are_of():
    names = ("engine", "kernel", "version", "operation", "dtype", "link", "network")
    keys = [(gpu, *(getattr(curve, name) for name in names)) for gpu, curve in CURVES]
    assert len(set(keys)) == len(keys)


def test_every_engine_names_measured_kernels_only():
    measured = {(curve.engine, curve.kernel) for _, curve in CURVES}
    engines = ("nccl", "torch", "vllm", "sglang", "trtllm")
    operations = {curve.operation for _, curve in CURVES}
    named = {pair for engine, op in product(engines, operations) for pair in records.kernels(op, engine, None)}
    assert named == measured
