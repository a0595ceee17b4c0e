"""Kernels by name and family: sums of their durations add up."""

import pytest

from synperf.analysis.kernels import families, kernels
from synperf.analysis.work import devices

from ..traces.kineto_files import copy, kernel, read
from .references import KINETO, trace


def test_a_kernel_has_counts_times_and_the_launch_of_its_longest_run(tmp_path):
    events = [
        kernel("sgemm", 10 * n, dur, grid=[dur, 1, 1], block=[64, 1, 1], **{"registers per thread": 90})
        for n, dur in enumerate((3, 9, 6))
    ]
    sgemm, other = kernels(next(devices(read(tmp_path, [*events, kernel("my_kernel", 100, 2)]))))
    assert (sgemm.count, sgemm.total_ns, sgemm.share) == (3, 18_000, 0.9)
    assert (sgemm.min_ns, sgemm.median_ns, sgemm.max_ns) == (3000, 6000, 9000)
    assert (sgemm.grid, sgemm.block, sgemm.registers, sgemm.occupancy) == ((9, 1, 1), (64, 1, 1), 90, None)
    assert (other.family, other.grid, other.registers) == ("unclassified", None, None)


def test_a_device_may_only_copy(tmp_path):
    assert kernels(next(devices(read(tmp_path, [copy("Memcpy DtoD (Device -> Device)", 0, 5)])))) == ()


@pytest.mark.parametrize("name", KINETO)
def test_names_and_families_add_up_to_all_kernels(name):
    for work in devices(trace(name)):
        found = kernels(work)
        whole = int(work.events.dur_ns[work.kernels].sum())
        assert sum(one.total_ns for one in found) == sum(one.total_ns for one in families(found)) == whole
        assert sum(one.count for one in found) == len(work.kernels)
