"""Idle time has causes, and they add up to it."""

import pytest

from synperf.analysis.diagnosis import diagnose, findings
from synperf.analysis.gaps import gaps
from synperf.analysis.nested import nested
from synperf.analysis.operators import launched
from synperf.analysis.overlap import overlap
from synperf.analysis.work import devices

from ..traces.kineto_files import call, event, kernel, read
from .references import KINETO, trace

QUICK = [
    part
    for n in range(7)
    for part in (
        call("cudaLaunchKernel", n, 1, correlation=n + 10),
        kernel("quick", 10, 1, stream=n, correlation=n + 10),
    )
]
BEFORE = [*QUICK, call("cudaLaunchKernel", 7, 5, correlation=1), kernel("first", 10, 90, correlation=1)]  # ends at 100


def after(launched, start=1000):
    """A kernel that ends the gap from 100 to `start`, and its launch."""
    return [call("cudaLaunchKernel", launched, 5, correlation=2), kernel("second", start, 10, correlation=2)]


CASES = [
    ("queued", after(50), "a launch in time"),
    ("dataloader", [*after(990), event("enumerate(DataLoader)#_X.__next__", 110, 800, "user_annotation")], ""),
    ("sync", [*after(990), call("cudaStreamSynchronize", 20, 600)], ""),
    ("sync", [*after(990), call("cudaDeviceSynchronize", 20, 81), event("aten::add", 150, 700)], "ran dry in a wait"),
    ("copy", [*after(990), call("cudaMemcpyAsync", 120, 700)], ""),
    ("launch bound", [*after(102, 103), event("aten::add", 90, 40)], "3 launches take 3 µs"),
    ("host", [*after(990), event("aten::nonsense", 110, 800)], ""),
    ("unknown", after(990), "nothing recorded before the launch"),
    ("unknown", [kernel("second", 1000, 10, correlation=9), event("aten::add", 110, 800)], "no launch in the file"),
    ("queued", [kernel("second", 1000, 10), call("cudaDeviceSynchronize", 20, 2000)], "the host waits all along"),
]


@pytest.mark.parametrize(("cause", "events", "why"), CASES)
def test_a_gap_has_the_cause_that_the_host_shows(tmp_path, cause, events, why):
    found = gaps(next(devices(read(tmp_path, BEFORE + events))), 5)
    assert [(one.cause, one.count) for one in found.idle] == [(cause, 1)], why


def test_a_gap_says_what_the_host_was_in(tmp_path):
    frames = [
        event("train.py(7): main", 0, 5000, "python_function"),
        event("deep.py(1): f", 100, 800, "python_function"),
    ]
    events = [*BEFORE, *after(990), event("outer", 90, 900), event("inner", 110, 800), *frames]
    (gap,) = gaps(next(devices(read(tmp_path, events))), 5).longest
    assert (gap.start_ns, gap.dur_ns, gap.operator, gap.python) == (100_000, 900_000, "inner", "deep.py(1): f")
    assert (gap.after, gap.before) == ("first", "second")


def test_a_wait_that_covers_gpu_work_is_no_finding(tmp_path):
    """A user case: 12 ms of launching, 80 ms in cudaDeviceSynchronize. Nothing is won by dropping the wait."""
    work = [call("cudaLaunchKernel", 100 * n, 5, correlation=n + 1) for n in range(100)]
    work += [kernel("bert", 800 * n + 10, 800, correlation=n + 1) for n in range(100)]
    work = [event("forward", 0, 12_000), *work, call("cudaDeviceSynchronize", 12_000, 80_000)]
    device = next(devices(read(tmp_path, work)))
    ranges = nested(device.events)
    found = diagnose(device, overlap(device), gaps(device, 5), ranges, ranges.summed(launched(ranges).gpu_ns))
    assert 80e6 <= overlap(device).busy_ns <= 92e6
    assert findings(found) == []
    assert "kernels themselves" in found.verdict


@pytest.mark.parametrize("name", KINETO)
def test_causes_add_up_to_the_idle_time(name):
    for work in devices(trace(name)):
        found = gaps(work, 3)
        assert sum(one.total_ns for one in found.idle) == overlap(work).idle_ns
        assert [gap.dur_ns for gap in found.longest] == sorted((gap.dur_ns for gap in found.longest), reverse=True)


def test_the_dataloader_is_the_difference_of_the_two_resnets():
    idle = {name: {one.cause: one.total_ns for work in devices(trace(name)) for one in gaps(work, 1).idle}
            for name in ("resnet50_v100_dataloader0", "resnet50_v100_dataloader4")}  # fmt: skip
    assert idle["resnet50_v100_dataloader0"]["dataloader"] > 0.6 * 273.9e6
    assert "dataloader" not in idle["resnet50_v100_dataloader4"]
