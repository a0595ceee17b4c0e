"""Runs are compared step against step, and no difference is told that chance may have made."""

import pytest

import synperf
from synperf.analysis.compare import Verdict, compare_traces

from ..traces.kineto_files import call, event, kernel, read, write
from .references import DLRM, path, trace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def steps(times, wait=0, first=1, family="sgemm", mark="ProfilerStep#{}"):
    """Steps of these microseconds: a wait for data, then a launch, and a kernel of 100 µs that ends the step."""
    events, at = [], 0
    for number, time in enumerate(times, first):
        events.append(event(mark.format(number), at, time, "user_annotation"))
        if wait:
            events.append(event(LOADER, at, wait, "user_annotation"))
        launched = at + time - 110
        events += [event("aten::mm", launched - 2, 8), call("cudaLaunchKernel", launched, 5, correlation=number)]
        events.append(kernel(family, at + time - 100, 100, correlation=number))
        at += time
    return events


SLOW = [1000, 1010, 1000, 1020, 1005, 1000]
FAST = [700, 705, 700, 710, 715, 700]


def compared(folder, a, b, **metadata):
    return compare_traces([read(folder, a, **metadata)], [read(folder, b, **metadata)])


def test_steps_that_are_wholly_apart_make_a_verdict(tmp_path):
    found = compared(tmp_path, steps(SLOW), steps(FAST))
    assert (found.verdict, found.a.steps, found.a.left_out) == (
        Verdict.FASTER,
        4,
        2,
    )  # the first and the last may be cut
    assert (found.a.median_ns, found.b.median_ns) == (1_007_500, 707_500)
    assert found.change == pytest.approx(707.5 / 1007.5 - 1)
    assert found.p_value == pytest.approx(2 / 70)
    assert compared(tmp_path, steps(FAST), steps(SLOW)).verdict is Verdict.SLOWER


def test_steps_that_spread_more_than_they_differ_are_inconclusive(tmp_path):
    found = compared(tmp_path, steps([1000, 900, 1200, 1000, 1100, 1000]), steps([1000, 950, 1250, 990, 1120, 1000]))
    assert (found.verdict, found.can_tell) == (Verdict.INCONCLUSIVE, True)


def test_a_run_is_like_itself(tmp_path):
    found = compared(tmp_path, steps(SLOW), steps(SLOW))
    assert (found.verdict, found.change, found.main) == (Verdict.INCONCLUSIVE, 0, None)
    assert all(row.change_ns == 0 for table in (found.parts, found.families, found.operators) for row in table.rows)


def test_three_steps_can_never_tell(tmp_path):
    found = compared(tmp_path, steps([1000] * 3), steps([2000] * 3))
    assert (found.verdict, found.can_tell) == (Verdict.INCONCLUSIVE, False)


def test_parts_add_up_to_the_step_and_name_the_difference(tmp_path):
    found = compared(tmp_path, steps(FAST), steps(SLOW, wait=800))
    parts = {row.name: row for row in found.parts.rows}
    assert sum(row.b_ns for row in found.parts.rows) == pytest.approx((1010 + 1000 + 1020 + 1005) * 250)
    assert parts["compute"].a_ns == parts["compute"].b_ns == 100_000
    assert found.main is not None
    assert found.main.name == "idle: dataloader"
    assert found.main.b_ns == pytest.approx((1010 + 1000 + 1020 + 1005) * 250 - 100_000)
    assert next(row.b_ns for row in found.operators.rows if row.name == "aten::mm") == 3_000  # less the call below it


def test_what_one_run_alone_has_is_summed_up(tmp_path):
    found = compared(tmp_path, steps(SLOW), steps(SLOW, family="flash_fwd_kernel"))
    assert found.families.rows == ()
    unmatched = found.families.unmatched
    assert (found.families.only_a, found.families.only_b, unmatched.a_ns, unmatched.b_ns) == (1, 1, 100_000, 100_000)


def test_steps_of_the_same_name_are_compared_and_others_left_out(tmp_path):
    found = compared(tmp_path, steps([1000] * 9), steps([1000] * 8, first=3))  # 2 to 8 and 4 to 9 are whole
    assert found.matched_by == "name"
    assert [one.name for one in found.steps] == [f"ProfilerStep#{number}" for number in range(4, 9)]
    other = compared(tmp_path, steps([1000] * 9), steps([1000] * 8, first=100))
    assert (other.matched_by, other.steps, other.b.steps) == ("none: all steps of both", (), 6)


def test_a_kernel_belongs_to_the_step_that_launched_it(tmp_path):
    events = steps([1000] * 6)
    late = [
        kernel("elementwise_kernel", 2100, 7, stream=9, correlation=50),
        call("cudaLaunchKernel", 1500, 5, correlation=50),
    ]
    found = compared(tmp_path, [*events, *late], events)
    assert found.families.unmatched.a_ns == 7_000 / 4
    assert found.families.only_a == 1


def test_runs_of_other_gpus_and_settings_are_marked(tmp_path):
    a = read(tmp_path, steps(SLOW), deviceProperties=[{"id": 0, "name": "A100"}], with_stack=1)
    b = read(tmp_path, steps(SLOW), deviceProperties=[{"id": 0, "name": "H100"}])
    said = [one.text for one in compare_traces([a], [b]).cautions]
    assert said[0] == "the runs are on different GPUs: A on A100, B on H100"
    assert said[1] == "only A was recorded with stacks, which slows the host"


def test_steps_that_are_found_in_other_ways_are_marked(tmp_path):
    found = compared(tmp_path, steps(SLOW), steps(SLOW, mark="train step {}"))
    (caution,) = found.cautions
    assert caution.text.startswith("steps are found by ProfilerStep in A and by named range in B")


def test_a_run_without_steps_is_refused(tmp_path):
    nothing = read(tmp_path, [kernel("sgemm", 0, 10)])
    with pytest.raises(synperf.FieldError, match=r"^b: trace\.json has no steps to compare"):
        compare_traces([read(tmp_path, steps(SLOW))], [nothing])


def test_ranks_are_averaged_over_the_same_steps():
    ranks = [trace(f"{DLRM}/rank{rank}") for rank in range(8)]
    found = compare_traces(ranks, ranks[:1])
    assert found.a.median_ns == pytest.approx(sum(compare_traces([r], [r]).a.median_ns for r in ranks) / 8)


def test_the_dataloader_is_the_difference_of_the_two_resnets():
    found = synperf.compare(path("resnet50_v100_dataloader0"), path("resnet50_v100_dataloader4"))
    assert found.verdict is Verdict.FASTER
    assert found.main is not None
    assert found.main.name == "idle: dataloader"
    assert (found.a.dataloader.total_ns, found.b.dataloader.total_ns) == (272_769_000, 8_540_000)
    assert found.operators.rows[0].name == "DataLoader"
    change = sum(row.change_ns for row in found.parts.rows)
    assert change == pytest.approx(sum(one.change_ns for one in found.steps) / len(found.steps))


def test_files_and_traces_may_be_given(tmp_path):
    file = write(tmp_path, steps(SLOW))
    assert synperf.compare(str(file), [synperf.read_trace(file)[0]]).change == 0
