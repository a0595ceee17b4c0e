"""Launching many kernels: the check of a thousand short ones, and the queue by brute force."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.launch import launch
from tests.cli.runner import assert_refused, invoke

times = st.lists(st.integers(1, 50), min_size=1, max_size=30)


def test_a_thousand_short_kernels():
    found = launch(kernels=1000, kernel_s=[2e-6], launch_s=5e-6)
    assert found.ungraphed_s == pytest.approx(5.0e-3)
    assert found.graph_s == pytest.approx(2.0e-3 + 5e-6)
    assert found.queued_s == pytest.approx(5.0e-3 + 2e-6)  # the last kernel ends after the last launch
    assert found.persistent_s == pytest.approx(2.005e-3)
    assert found.streams_s == pytest.approx(2.502e-3)
    assert found.idle_share == pytest.approx(1 - 2 / 5.002)
    assert found.launch_bound == 1000


def test_long_kernels_hide_launches():
    found = launch(kernels=100, kernel_s=[50e-6], launch_s=5e-6)
    assert found.ungraphed_s == pytest.approx(5e-3)
    assert found.queued_s == pytest.approx(5.005e-3)
    assert found.advice == ("nothing to gain: launches are hidden behind kernels",)


def test_a_long_kernel_gives_the_host_time_for_short_ones():
    found = launch(kernels=100, kernel_s=[2e-6, 30e-6], launch_s=5e-6)
    assert found.ungraphed_s == pytest.approx(50 * 35e-6)
    assert found.queued_s == pytest.approx(
        5e-6 + 2e-6 + 3e-6 + 49 * 32e-6 + 30e-6
    )  # only the second waits for its launch
    assert found.queued_s < found.ungraphed_s


@given(times, st.integers(1, 20), st.integers(1, 5))
def test_the_queue_clock_by_clock(kernels, launch_ticks, streams):
    found = launch(kernel_s=[float(k) for k in kernels], launch_s=float(launch_ticks), streams=streams)
    now, waiting, running, left, ended = 0, [], None, list(kernels), 0
    while ended < len(kernels):
        if now % launch_ticks == 0 and now and left:
            waiting.append(left.pop(0))
        if running == now:
            ended, running = ended + 1, None
        if running is None and waiting:
            running = now + waiting.pop(0)
        now += 1
    assert found.queued_s == pytest.approx(now - 1)
    assert found.graph_s <= found.queued_s
    assert found.queued_s <= found.ungraphed_s + max(kernels) + launch_ticks
    assert found.streams_s <= found.queued_s


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--kernel-s", ""], "kernel_s"),
        (["--kernel-s", "0"], "kernel_s"),
        (["--kernel-s", "2us,-1us"], "kernel_s[1]"),
        (["--kernel-s", "2us", "--kernels", "0"], "kernels"),
        (["--kernel-s", "2us", "--launch-s", "0"], "launch_s"),
        (["--kernel-s", "2us", "--launch-s", "5GB"], "launch_s"),
        (["--kernel-s", "2us", "--streams", "0"], "streams"),
        (["--kernel-s", "2us", "--barrier-s", "-1us"], "barrier_s"),
    ],
)
def test_bad_input_is_one_sentence(options, word):
    seen = invoke("launch", *options)
    assert_refused(seen)
    assert word in seen.err


def test_plain_numbers_are_seconds():
    found = json.loads(invoke("launch", "--kernels", "1000", "--kernel-s", "2e-6", "--launch-s", "5e-6", "--json").out)
    assert found["ungraphed_s"] == pytest.approx(5e-3)
    with pytest.raises(FieldError, match="kernel_s must have from 1"):
        launch(kernel_s=[])


def test_streams_overlap_kernels_that_leave_room():
    long = {"kernels": 100, "kernel_s": [50e-6], "launch_s": 5e-6}
    assert launch(**long).streams_s == pytest.approx(5.005e-3)
    assert launch(**long, gpu_share=0.5).streams_s == pytest.approx(2.505e-3)
