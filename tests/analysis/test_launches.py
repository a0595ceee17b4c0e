"""Launches: delays, queue, graphs, and what cannot be tied."""

import pytest

from synperf.analysis.launches import cautions, launches
from synperf.analysis.work import devices

from ..traces.kineto_files import call, kernel, read
from .references import KINETO, independent, trace


def measured(folder, events):
    return launches(next(devices(read(folder, events))))


def test_delay_interval_and_queue(tmp_path):
    events = [call("cudaLaunchKernel", 10 * n, 3, correlation=n + 1) for n in range(4)]
    events += [kernel("k", start, 5, correlation=n + 1) for n, start in enumerate((5, 100, 106, 112))]
    found = measured(tmp_path, events)
    assert (found.delay_median_ns, found.delay_max_ns, found.interval_median_ns) == (84_000, 90_000, 10_000)
    assert (found.queue_max, found.found_empty_share) == (2, 0.5)
    assert (found.short_kernels, found.short_ns) == (4, 20_000)


def test_a_graph_is_one_call_of_all_that_it_replays(tmp_path):
    replayed = [kernel(f"k{n}", 100 + 10 * n, 10, correlation=5) for n in range(3)]
    found = measured(tmp_path, [call("cudaGraphLaunch", 0, 9, correlation=5), *replayed])
    assert (found.calls, found.graph_launches, found.graph_events, found.graph_ns) == (1, 1, 3, 30_000)


def test_what_cannot_be_tied_is_told_with_its_share(tmp_path):
    events = [
        call("cudaLaunchKernel", 0, 1, correlation=1),
        kernel("k", 5, 30, correlation=1),
        kernel("k", 50, 10, correlation=7),
        call("cudaLaunchKernel", 60, 1, correlation=8),
    ]
    told = cautions(measured(tmp_path, events))
    assert [(one.count, one.share) for one in told] == [(1, 0.25), (1, None)]


def test_a_start_before_the_launch_is_told(tmp_path):
    found = measured(tmp_path, [call("cudaLaunchKernel", 100, 1, correlation=1), kernel("k", 90, 30, correlation=1)])
    assert found.started_early == 1
    assert any("clocks" in one.text for one in cautions(found))


@pytest.mark.parametrize("name", KINETO)
def test_events_tied_to_a_launch_in_every_shared_trace(name):
    tied, _, whole = independent(name)["gpu_events_with_matching_runtime_call"].partition("/")
    found = [launches(work) for work in devices(trace(name))]
    assert sum(one.events for one in found) == int(tied)
    assert sum(one.events + one.untied for one in found) == int(whole)
