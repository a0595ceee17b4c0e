"""The whole answer: what it holds, and what it says that it could not see."""

import pytest

import synperf
from synperf.analysis.dataloader import dataloader
from synperf.errors import FieldError
from synperf.traces.events import Kind, aligned

from ..traces.kineto_files import event, kernel, read, write
from .references import trace


def test_a_kernel_without_a_time_is_set_aside(tmp_path):
    """A user case: ts 0 and dur 0. The span must not start in 1970."""
    odd = kernel("volta_sgemm_64x64_nt", 0, 0, correlation=106123, grid=[4, 4, 36], block=[64, 1, 1]) | {
        "cat": "Kernel"
    }
    found = synperf.analyze(write(tmp_path, [odd, kernel("volta_sgemm_128x64_tn", 1615207264505000, 6)]))
    assert [one.span_ns for one in found.overlaps] == [6000]
    assert [one.count for one in found.cautions if "set aside" in one.text] == [1]
    events = read(tmp_path, [odd]).events
    assert aligned(events.geometry, "grid", events.of(Kind.UNTIMED)).tolist() == [[4, 4, 36]]


def test_a_duration_that_has_overflown_is_told(tmp_path):
    found = synperf.analyze(write(tmp_path, [kernel("a", 0, 4_294_967_295), kernel("b", 100, 10)]))
    assert any("overflown" in one.text for one in found.cautions)


def test_work_that_lies_years_apart_is_told(tmp_path):
    found = synperf.analyze(write(tmp_path, [kernel("a", 0, 5), kernel("b", 10, 5), kernel("c", 10**15, 5)]))
    (said,) = [one for one in found.cautions if "gap of 1e+09 s" in one.text]
    assert 0.99 < said.share < 1


def test_files_of_unlike_jobs_and_of_one_rank_are_told(tmp_path):
    job = [(0, 2), (0, 2), (1, 8)]
    paths = [
        write(tmp_path, [kernel("a", 0, 5)], f"{n}.json", distributedInfo={"rank": rank, "world_size": size})
        for n, (rank, size) in enumerate(job)
    ]
    said = [one.text for one in synperf.analyze(paths).cautions if "rank" in one.text]
    assert said[0] == "the files are of jobs of 2 and 8 ranks: what is said across them is of no one job"
    assert said[1].startswith("ranks that more than one file says it is, such as rank 0")
    assert not [one for one in synperf.analyze([paths[0]]).cautions if "rank" in one.text]


def test_steps_without_gpu_work_are_told(tmp_path):
    marks = [event(f"ProfilerStep#{n}", 100 * n, 90, "user_annotation") for n in range(4)]
    found = synperf.analyze(write(tmp_path, [*marks, kernel("a", 10, 5)]))
    assert [one.count for one in found.cautions if "no GPU work" in one.text] == [3]


def test_counters_are_no_times(tmp_path):
    found = synperf.analyze(write(tmp_path, [event("k", 0, 5, "cuda_profiler_range", args={"smsp__inst": 3})]))
    assert "counters" in found.unseen[0].reason


def test_traces_and_files_are_taken_alike(tmp_path):
    path = write(tmp_path, [kernel("a", 0, 5)])
    assert synperf.analyze(path) == synperf.analyze(synperf.read_trace(path)) == synperf.analyze([str(path)])


@pytest.mark.parametrize("given", [[], ["x.json", "x.json"]])
def test_no_file_or_one_twice_is_refused(given):
    with pytest.raises(FieldError, match="right would be"):
        synperf.analyze(given)


def test_findings_come_with_the_largest_saving_first(tmp_path):
    events = [kernel("gemm", 0, 100), kernel("ncclKernel_AllReduce", 100, 400), kernel("gemm", 900, 100)]
    found = synperf.analyze(write(tmp_path, events))
    savings = [one.saving_ns for one in found.findings]
    assert savings == sorted(savings, reverse=True)
    assert found.findings[0].title == "Communication is not hidden"


@pytest.mark.parametrize(("name", "count", "total_us"), [("dataloader0", 6, 272769), ("dataloader4", 6, 8540)])
def test_waits_for_the_dataloader_of_the_two_resnets(name, count, total_us):
    found = dataloader(trace(f"resnet50_v100_{name}"))
    assert (found.count, found.total_ns) == (count, 1000 * total_us)


def test_a_trace_without_dataloader_marks_has_none(tmp_path):
    assert dataloader(read(tmp_path, [kernel("a", 0, 5)])) is None
