"""What devices did with their time adds up, and equals plain interval arithmetic to the nanosecond."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.analysis.intervals import Intervals
from synperf.analysis.overlap import overlap
from synperf.analysis.work import devices
from synperf.traces.building import Builder
from synperf.traces.events import Kind, Trace

from ..traces.kineto_files import copy, kernel, read
from .references import KINETO, independent, trace


@pytest.mark.parametrize("name", KINETO)
def test_every_shared_trace_equals_the_independent_check(name):
    """No difference is known: all GPU events count, waits do not, and the multimem all-reduce is communication."""
    right, works = independent(name), list(devices(trace(name)))
    if "span_us" not in right:  # a profile of the host alone, or hardware counters in the place of kernels
        assert works == []
        return
    (found,) = map(overlap, works)
    times = {"span": "span", "busy": "busy", "idle": "idle", "compute": "compute", "comm": "comm", "copy": "memory",
             "exposed_comm": "exposed_comm"}  # fmt: skip
    got = {ours: getattr(found, f"{ours}_ns") for ours in times}
    assert got == {ours: round(1000 * right[f"{theirs}_us"]) for ours, theirs in times.items()}
    counts = right["gpu_event_counts"]
    assert (found.kernels, found.kernels + found.copies) == (counts["kernel"], sum(counts.values()))


def test_a_newer_nccl_is_communication_too(tmp_path):
    """The example of a user case: compute 100, communication 150 of which 40 are hidden, idle 40 of 250 µs."""
    (found,) = map(
        overlap,
        devices(
            read(
                tmp_path,
                [
                    kernel("sm90_xmma_gemm_bf16", 0, 100),
                    kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 60, 100, stream=20),
                    kernel("ncclKernel_AllGather_RING_LL_Sum_int8_t", 200, 50, stream=20),
                ],
            )
        ),
    )
    assert (found.compute_ns, found.comm_ns, found.exposed_comm_ns) == (100_000, 150_000, 110_000)
    assert (found.hidden_comm_ns, found.idle_ns, found.span_ns) == (40_000, 40_000, 250_000)
    assert found.hidden_comm_share == pytest.approx(0.267, abs=5e-4)


def test_a_copy_behind_a_collective_is_exposed_and_the_collective_is_not(tmp_path):
    (found,) = map(
        overlap, devices(read(tmp_path, [copy("Memcpy DtoD", 0, 10), kernel("ncclKernel_X", 0, 10, stream=8)]))
    )
    assert (found.exposed_copy_ns, found.exposed_comm_ns, found.busy_ns) == (10_000, 0, 10_000)


def test_devices_of_one_file_are_apart(tmp_path):
    found = [overlap(work) for work in devices(read(tmp_path, [kernel("a", 0, 10), kernel("b", 100, 5, device=1)]))]
    assert [(one.device, one.span_ns, one.idle_ns) for one in found] == [(0, 10_000, 0), (1, 5_000, 0)]


_NAMES = ("gemm", "ncclKernel", "copy")
_EVENTS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 60), st.sampled_from(range(3))), min_size=1, max_size=30
)


@given(_EVENTS)
def test_the_parts_are_those_of_a_count_of_every_nanosecond(drawn):
    """Nanosecond by nanosecond: compute first, then copies, then communication; the rest of the span is idle."""
    (found,) = map(overlap, devices(_trace(drawn)))
    begin, end = min(s for s, _, _ in drawn), max(s + d for s, d, _ in drawn)
    counted = {0: 0, 2: 0, 1: 0, None: 0}
    for time in range(begin, end):
        here = {what for start, dur, what in drawn if start <= time < start + dur}
        counted[next((what for what in (0, 2, 1) if what in here), None)] += 1
    assert [found.compute_ns, found.exposed_copy_ns, found.exposed_comm_ns, found.idle_ns] == list(counted.values())
    assert found.span_ns == found.busy_ns + found.idle_ns == end - begin


def _trace(drawn):
    builder = Builder()
    for start, dur, what in drawn:
        kind = Kind.MEMCPY if what == 2 else Kind.KERNEL
        builder.add(1, kind=kind, name=builder.texts[_NAMES[what]], start_ns=start, dur_ns=dur, device=0, stream=what)
    return Trace(source="drawn", format="none", events=builder.events())


@given(_EVENTS, st.integers(-10, 400), st.integers(0, 100))
def test_what_a_set_covers_of_a_window_is_counted(drawn, start, dur):
    starts, ends = np.array([s for s, _, _ in drawn]), np.array([s + d for s, d, _ in drawn])
    found = Intervals.union(starts, ends).covered(np.array([start]), np.array([start + dur]))
    right = sum(any(s <= time < s + d for s, d, _ in drawn) for time in range(start, start + dur))
    assert found.tolist() == [right]
