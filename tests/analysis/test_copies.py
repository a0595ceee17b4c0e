"""Copies by direction: counts, times and bytes."""

import pytest

from synperf.analysis.copies import copies, findings
from synperf.analysis.work import devices

from ..traces.kineto_files import copy, kernel, read
from .references import KINETO, independent, trace


def test_pageable_copies_are_told_with_their_bandwidth(tmp_path):
    events = [copy("Memcpy HtoD (Pageable -> Device)", 0, 100, bytes=400_000), kernel("k", 100, 10)]
    found = copies(next(devices(read(tmp_path, events))))
    assert (found[0].direction, found[0].host_memory, found[0].bytes_per_s) == ("HtoD", "pageable", 4e9)
    assert len(findings(found, 110_000)) == 1
    assert findings(found, 100_000_000) == []


def test_bytes_that_are_not_recorded_are_none_not_zero(tmp_path):
    (found,) = copies(next(devices(read(tmp_path, [copy("Memcpy DtoD (Device -> Device)", 0, 10)]))))
    assert (found.bytes, found.bytes_per_s) == (None, None)


@pytest.mark.parametrize("name", KINETO)
def test_copies_of_every_shared_trace(name):
    right = independent(name).get("memcpy", {})
    got = {}
    for one in (one for work in devices(trace(name)) for one in copies(work) if one.direction != "memset"):
        for key, value in (("count", one.count), ("ns", one.total_ns), ("bytes", one.bytes or 0)):
            got[f"{one.direction}_{key}"] = got.get(f"{one.direction}_{key}", 0) + value
    assert got == right
