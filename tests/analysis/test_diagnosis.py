"""Why a GPU is used too little: seven causes, each with a case that ranks it first."""

import pytest

import synperf
from synperf.analysis.diagnosis import Measured, causes, names, verdict
from synperf.errors import PerfError

from ..traces.kineto_files import call, copy, event, kernel, read
from .references import KINETO, trace
from .test_gaps import BEFORE, after

ALL = (
    "data_loading", "cpu_preprocessing", "small_batch", "transfers", "small_operators", "synchronisation", "framework"
)  # fmt: skip
SPAN = 100_000_000


def of(**milliseconds):
    return causes({name: Measured(time_ns=int(1e6 * time)) for name, time in milliseconds.items()}, SPAN)


def test_there_are_seven():
    assert set(names()) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_each_is_first_where_it_costs_most(name):
    found = of(**(dict.fromkeys(ALL, 5) | {name: 40}))
    assert (found[0].cause, found[0].share, found[0].is_worth) == (name, 0.4, True)
    assert "40 ms" in found[0].evidence
    assert found[0].tool
    assert verdict(found, 0.0).startswith(found[0].title)


def test_a_mixed_case_has_several_and_small_ones_are_not_worth_it():
    found = of(data_loading=30, synchronisation=10, framework=1)
    assert [(one.cause, one.is_worth) for one in found] == [
        ("data_loading", True), ("synchronisation", True), ("framework", False)
    ]  # fmt: skip


def test_without_evidence_a_timeline_comes_first():
    assert "timeline tool first" in verdict((), 0.4)
    assert "kernels themselves" in verdict((), 0.0)


@pytest.mark.parametrize("measured", [{"cosmic_rays": Measured(time_ns=1)}, {"framework": Measured(time_ns=-1)}])
def test_an_indicator_that_can_not_be_is_refused(measured):
    with pytest.raises(PerfError, match="indicators"):
        causes(measured, SPAN)


TRACES = {
    "data_loading": [*BEFORE, *after(990), event("enumerate(DataLoader)#_X.__next__", 110, 800, "user_annotation")],
    "cpu_preprocessing": [*BEFORE, *after(990), event("aten::decode", 110, 800)],
    "small_batch": [
        *(call("cudaLaunchKernel", 10 * n, 9, correlation=n + 1) for n in range(50)),
        *(kernel("gemm", 10 * n + 5, 2, correlation=n + 1) for n in range(50)),
        event("aten::mm", 0, 500),
    ],
    "transfers": [*BEFORE, copy("Memcpy HtoD (Pageable -> Device)", 100, 900, bytes=10**6), *after(100)],
    "small_operators": [
        *(call("cudaLaunchKernel", 10 * n, 9, correlation=n + 1) for n in range(50)),
        *(kernel("vectorized_elementwise_kernel", 10 * n + 500, 9, correlation=n + 1) for n in range(50)),
    ],
    "synchronisation": [*BEFORE, *after(990), call("cudaStreamSynchronize", 20, 600)],
    "framework": [*BEFORE, *after(990), event("train.py(7): main", 0, 5000, "python_function")],
}


@pytest.mark.parametrize("name", ALL)
def test_a_trace_of_each_ranks_it_first(tmp_path, name):
    found = synperf.analyze(read(tmp_path, TRACES[name]))
    (one,) = found.diagnoses
    assert one.causes[0].cause == name
    finding = next(finding for finding in found.findings if finding.title == one.causes[0].title)
    assert finding.saving_ns == one.causes[0].total_ns


def test_a_trace_of_kernels_alone_asks_for_the_host(tmp_path):
    (one,) = synperf.analyze(read(tmp_path, [kernel("a", 0, 10), kernel("b", 900, 10)])).diagnoses
    assert (one.causes, "timeline tool first" in one.verdict) == ((), True)


@pytest.mark.parametrize("name", KINETO)
def test_causes_cost_no_more_than_there_is(name):
    for one, times in zip(*(getattr(synperf.analyze(trace(name)), k) for k in ("diagnoses", "overlaps")), strict=True):
        idle = [c for c in one.causes if c.cause not in ("small_operators", "transfers")]
        assert sum(c.total_ns for c in idle) <= times.idle_ns
        assert [c.total_ns for c in one.causes] == sorted((c.total_ns for c in one.causes), reverse=True)


def test_the_dataloader_is_what_holds_up_the_slower_resnet():
    first = {n: synperf.analyze(trace(f"resnet50_v100_dataloader{n}")).diagnoses[0].causes[0].cause for n in (0, 4)}
    assert first[0] == "data_loading"
    assert first[4] != "data_loading"
