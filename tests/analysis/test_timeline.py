"""Slices of a device's span add up to what `overlap` says."""

import numpy as np
import pytest

from synperf.analysis.overlap import overlap
from synperf.analysis.timeline import covered, timeline
from synperf.analysis.work import devices

from ..traces.kineto_files import copy, kernel, read
from .references import KINETO, trace

EVENTS = [
    kernel("sgemm", 0, 10),
    copy("Memcpy HtoD (Pinned -> Device)", 5, 10, stream=8),  # 5 of it behind the kernel
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 12, 18, stream=9),  # 3 of it behind the copy
    kernel("sgemm", 38, 2),
]


def test_each_slice_has_what_the_device_did_in_it(tmp_path):
    found = timeline(next(devices(read(tmp_path, EVENTS))), 4)
    assert found.edges_ns == (0, 10_000, 20_000, 30_000, 40_000)
    assert found.compute_ns == (10_000, 0, 0, 2_000)
    assert found.exposed_copy_ns == (0, 5_000, 0, 0)
    assert found.exposed_comm_ns == (0, 5_000, 10_000, 0)
    assert found.idle_ns == (0, 0, 0, 8_000)


def test_windows_may_lie_anywhere(tmp_path):
    found = covered(next(devices(read(tmp_path, EVENTS))), np.array([-5_000, 28_000]), np.array([2_000, 90_000]))
    assert found.busy.tolist() == [2_000, 4_000]


def test_a_span_of_a_few_nanoseconds_has_no_empty_slices(tmp_path):
    found = timeline(next(devices(read(tmp_path, [kernel("k", 0, 0.003)]))), 100)
    assert found.edges_ns == (0, 1, 2, 3)
    assert found.compute_ns == (1, 1, 1)


@pytest.mark.parametrize("name", KINETO)
def test_slices_add_up_to_the_overlap(name):
    for work in devices(trace(name)):
        whole, found = overlap(work), timeline(work, 77)
        for kind in ("compute_ns", "exposed_copy_ns", "exposed_comm_ns", "idle_ns"):
            assert sum(getattr(found, kind)) == getattr(whole, kind)
