"""Steps are found by marks, or by what repeats; their times are those of the marks."""

import pytest

from synperf.analysis.imbalance import imbalance
from synperf.analysis.steps import steps

from ..traces.kineto_files import event, kernel, read
from .references import KINETO, independent, trace


def mark(name, start, dur, cat="user_annotation"):
    return event(name, start, dur, cat)


def test_profiler_steps_have_a_median_without_the_first_and_the_last(tmp_path):
    marks = [mark(f"ProfilerStep#{n}", 1000 * n, dur) for n, dur in enumerate((500, 100, 101, 102, 103, 900))]
    found = steps(read(tmp_path, [*marks, kernel("gemm", 1010, 40)]))
    assert (found.found_by, found.median_ns) == ("ProfilerStep", 101_500)
    assert [step.may_be_cut for step in found.steps] == [True, False, False, False, False, True]
    assert [step.name for step in found.steps if step.is_slow] == ["ProfilerStep#0", "ProfilerStep#5"]
    assert [step.busy_ns for step in found.steps][:3] == [0, 40_000, 0]


@pytest.mark.parametrize(
    ("marks", "found_by", "durations"),
    [
        ([("ProfilerStep#1", 0, 5), ("ProfilerStep#2", 5, 6)], "ProfilerStep", [5000, 6000]),
        ([("execute_context_1(8_8)_generation_0(0)", 0, 5)], "serving step", [5000]),
        ([("train_step 1", 0, 5), ("train_step 2", 6, 5)], "named range", [5000, 5000]),
        ([("Optimizer.step#SGD.step", 0, 5), ("Optimizer.step#SGD.step", 100, 5)], "optimizer step", [100_000]),
    ],
)
def test_the_first_kind_of_mark_that_there_is_tells_the_steps(tmp_path, marks, found_by, durations):
    found = steps(read(tmp_path, [mark(*one) for one in marks]))
    assert (found.found_by, [step.dur_ns for step in found.steps]) == (found_by, durations)


def test_a_step_that_rounding_lets_begin_within_the_last_one_is_a_step(tmp_path):
    marks = [mark("ProfilerStep#1", 0, 5.001), mark("ProfilerStep#2", 5, 5), mark("ProfilerStep#2", 6, 2)]
    assert [step.dur_ns for step in steps(read(tmp_path, marks)).steps] == [5001, 5000]


def test_operators_were_marks_in_2021(tmp_path):
    found = steps(read(tmp_path, [mark("ProfilerStep#7", 0, 5, "Operator")]))
    assert [step.name for step in found.steps] == ["ProfilerStep#7"]


def test_without_marks_kernels_that_repeat_evenly_are_steps(tmp_path):
    layers = [kernel(f"layer{n % 3}", 100 * n, 50) for n in range(12)]
    once = [kernel("embedding", 300 * n - 10, 5) for n in range(4)]
    found = steps(read(tmp_path, [*layers, *once, kernel("odd", 5000, 1)]))
    assert (found.found_by, [step.dur_ns for step in found.steps]) == ("repeated kernels", [300_000] * 3)


def test_without_anything_there_are_no_steps(tmp_path):
    assert steps(read(tmp_path, [kernel("a", 0, 1), kernel("b", 2, 1)])) is None


@pytest.mark.parametrize("name", KINETO)
def test_profiler_steps_of_every_shared_trace(name):
    right = independent(name).get("profiler_steps") or ()
    found = steps(trace(name))
    marked = () if found is None else (step for step in found.steps if step.name.startswith("ProfilerStep"))
    got = [(step.name, step.dur_ns) for step in marked]
    assert got == [(one["name"], round(1000 * one["dur_us"])) for one in right]


def test_imbalance_is_the_mean_over_the_maximum(tmp_path):
    ranks = []
    for rank, dur in enumerate((50, 100)):
        events = [mark("ProfilerStep#1", 0, 1000), kernel("gemm", 10, dur)]
        ranks.append(steps(read(tmp_path, events, distributedInfo={"rank": rank})))
    (found,) = imbalance(ranks)
    assert (found.efficiency, found.busiest_rank) == (0.75, 1)
