"""Operators: own and total times, GPU work by who launched it, work and roofline."""

import json

import pytest

from synperf import gpu
from synperf.analysis.gpu_of import gpu_of
from synperf.analysis.nested import nested
from synperf.analysis.operators import findings, launched, operators
from synperf.traces.events import GPU_WORK, Kind

from ..traces.kineto_files import call, event, kernel, read
from .references import KINETO, document, trace

H100 = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]


def found_in(made, known=None):
    ranges = nested(made.events)
    return operators(made, ranges, launched(ranges), known or gpu_of(made, 0))


def by_name(found):
    return {one.name: one for one in found.operators}


def mm(start, dur, shapes=((4096, 4096), (4096, 4096)), **more):
    args = {"Input Dims": [list(one) for one in shapes], "Input type": ["c10::BFloat16"] * len(shapes)}
    return event("aten::mm", start, dur, args=args, **more)


def test_a_kernel_belongs_to_the_innermost_operator_and_counts_in_all_above(tmp_path):
    events = [
        event("outer", 0, 100),
        event("a note", 5, 90, "user_annotation"),
        event("inner", 10, 50),
        call("cudaLaunchKernel", 20, 10, correlation=1),
        call("cudaLaunchKernel", 70, 10, correlation=2),
        kernel("k", 200, 7, correlation=1),
        kernel("k", 300, 5, correlation=2),
        kernel("k", 400, 3, correlation=9),
    ]
    found = found_in(read(tmp_path, events))
    outer, inner = by_name(found)["outer"], by_name(found)["inner"]
    assert (outer.gpu_own_ns, outer.gpu_total_ns, outer.kernels) == (5000, 12000, 1)
    assert (inner.gpu_own_ns, inner.gpu_total_ns, inner.kernels) == (7000, 7000, 1)
    assert (outer.host_total_ns, outer.host_own_ns, inner.host_own_ns) == (100_000, 10_000, 40_000)
    assert (found.gpu_ns, found.untied_ns) == (15_000, 3000)


def test_an_operator_that_calls_itself_counts_once(tmp_path):
    events = [event("aten::to", 0, 100), event("aten::to", 10, 50), event("aten::to", 200, 10)]
    one = by_name(found_in(read(tmp_path, events)))["aten::to"]
    assert (one.count, one.host_total_ns, one.host_own_ns) == (3, 110_000, 110_000)


def test_another_thread_launches_for_itself(tmp_path):
    events = [
        event("one", 0, 100),
        call("cudaLaunchKernel", 20, 10, correlation=1, tid=7),
        kernel("k", 50, 5, correlation=1),
    ]
    assert by_name(found_in(read(tmp_path, events)))["one"].gpu_total_ns == 0


def test_shapes_are_apart_and_work_is_of_one_run(tmp_path):
    """4096^3 twice in 400 µs: 2 x 137.4 GFLOP / 400 µs = 687 TFLOP/s, 0.139 of 0.2 ms at the peak of 989.4e12."""
    events = [mm(0, 50), mm(100, 50), mm(200, 50, ((64, 4096), (4096, 4096)))]
    for at, (launch, dur) in enumerate([(10, 150), (110, 250), (210, 20)], 1):
        events += [call("cudaLaunchKernel", launch, 5, correlation=at), kernel("gemm", 1000 * at, dur, correlation=at)]
    large, small = found_in(read(tmp_path, events, deviceProperties=H100)).operators
    assert (large.count, large.timed, large.flop, large.bytes) == (2, 2, 2 * 4096**3, 3 * 2 * 4096**2)
    assert large.flop_per_s == pytest.approx(2 * 2 * 4096**3 / 400e-6)
    peak = gpu("h100_sxm").peak_flop_per_s("bf16")
    assert large.roofline_ns == pytest.approx(1e9 * 2 * 4096**3 / peak)
    assert large.efficiency == pytest.approx(2 * 4096**3 / peak / 200e-6)
    assert (large.bound, large.math, small.bound) == ("compute", "bf16", "memory")
    assert small.efficiency == pytest.approx(small.bytes / gpu("h100_sxm").dram_bytes_per_s / 20e-6)


def test_a_run_whose_kernel_is_not_in_the_file_makes_no_rate_smaller(tmp_path):
    events = [
        mm(0, 50),
        mm(100, 50),
        call("cudaLaunchKernel", 110, 5, correlation=1),
        kernel("gemm", 500, 200, correlation=1),
    ]
    (one,) = found_in(read(tmp_path, events, deviceProperties=H100)).operators
    assert (one.count, one.timed) == (2, 1)
    assert one.flop_per_s == pytest.approx(2 * 4096**3 / 200e-6)


def test_a_gpu_that_is_not_known_has_no_roofline(tmp_path):
    events = [mm(0, 50), call("cudaLaunchKernel", 10, 5, correlation=1), kernel("gemm", 500, 200, correlation=1)]
    made = read(tmp_path, events, deviceProperties=[{"id": 0, "name": "Fancy 9000"}])
    (one,) = found_in(made).operators
    assert (one.efficiency, one.bound) == (None, "")
    assert one.flop_per_s > 0
    assert "Fancy 9000" in gpu_of(made, 0).reason


def test_a_name_that_looks_like_a_file_is_none(tmp_path):
    (tmp_path / "gpu.toml").write_text("num_sms = 1\n")
    made = read(tmp_path, [kernel("k", 0, 5)], deviceProperties=[{"id": 0, "name": str(tmp_path / "gpu.toml")}])
    assert gpu_of(made, 0).gpu is None


def test_products_far_below_their_roofline_are_a_finding(tmp_path):
    events = [mm(0, 50), call("cudaLaunchKernel", 10, 5, correlation=1), kernel("gemm", 500, 2000, correlation=1)]
    found = found_in(read(tmp_path, events, deviceProperties=H100))
    (one,) = findings(found)
    assert "[[4096,4096],[4096,4096]]" in one.evidence
    assert one.saving_ns == int(2_000_000 - found.operators[0].roofline_ns)
    near = [*events[:2], kernel("gemm", 500, 180, correlation=1)]
    assert findings(found_in(read(tmp_path, near, deviceProperties=H100))) == []


def test_what_stands_in_another_operator_with_work_is_told(tmp_path):
    linear = event("aten::linear", 0, 100, args=mm(0, 1)["args"])
    found = by_name(found_in(read(tmp_path, [linear, mm(10, 50)])))
    assert (found["aten::linear"].is_within, found["aten::mm"].is_within) == (False, True)


def test_an_annotation_that_is_named_like_an_operator_is_none(tmp_path):
    named = mm(0, 100) | {"cat": "user_annotation"}
    found = by_name(found_in(read(tmp_path, [named, mm(10, 50)])))
    assert not found["aten::mm"].is_within


@pytest.mark.parametrize("name", KINETO)
def test_gpu_times_of_operators_and_of_what_none_launched_add_up(name):
    made = trace(name)
    found = found_in(made) if len(made.events.of(Kind.OPERATOR)) else None
    if found is None:
        assert operators(made, nested(made.events), launched(nested(made.events)), None) is None
        return
    whole = int(made.events.dur_ns[made.events.of(*GPU_WORK)].sum())
    assert sum(one.gpu_own_ns for one in found.operators) + found.untied_ns == found.gpu_ns == whole


@pytest.mark.parametrize("name", ["qwen05b_h100_infer", "qwen05b_mi300_infer"])
def test_matrix_products_of_a_real_trace_equal_those_of_tracelens(name):
    """Counts, FLOP, bytes and kernel times of every shape."""
    ours = {(o.name, *o.gemm): o for o in found_in(trace(name)).operators if o.form == "gemm" and o.gpu_own_ns}
    rows = document("reference_tracelens")["traces"][f"{name}.json.gz"]["GEMM"]
    assert len(ours) == len(rows)
    for row in rows:
        one = ours[(row["name"], *(int(row[f"param: {p}"]) for p in "BMNK"))]
        assert (one.timed, one.flop) == (row["name_count"], round(1e9 * row["GFLOPS_first"]))
        assert one.bytes / 2**20 == pytest.approx(row["Data Moved (MB)_first"], rel=1e-12)
        assert one.gpu_total_ns / 1000 == pytest.approx(row["Kernel Time (µs)_sum"], abs=0.02 * row["name_count"])


def test_indented_shapes_are_on_one_line():
    shapes = {one.shapes for one in found_in(trace("qwen05b_h100_infer")).operators}
    assert "[[8944,1024],[1024,2816]]" in shapes
    assert all(json.loads(one) is not None for one in shapes if one)
