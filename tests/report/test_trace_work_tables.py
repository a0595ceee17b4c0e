"""Tables on the work of a trace: in full after the first screen, and never more than the JSON says."""

import pytest

from synperf.analysis.whole import analyze_traces
from synperf.report import trace_work_tables as tables
from synperf.report.analysis import to_dict, to_text

from ..analysis.test_operators import H100, mm
from ..traces.kineto_files import call, kernel, read
from .analysed import REAL, real

MAKERS = (tables.causes, tables.checks, tables.operators, tables.geometry, tables.memory, tables.holders)


def made(folder):
    shape = {"grid": [264, 1, 1], "block": [128, 1, 1], "registers per thread": 64, "shared memory": 0}
    events = [
        mm(0, 30),
        call("cudaLaunchKernel", 10, 5, correlation=7),
        kernel("gemm", 40, 200, correlation=7, **shape),
    ]
    return analyze_traces([read(folder, events, deviceProperties=H100)])


def test_full_begins_with_the_first_screen_and_ends_with_the_tables(tmp_path):
    found = made(tmp_path)
    first, full = to_text(found), to_text(found, is_full=True)
    assert full.startswith(first)
    assert "Check list and traps" not in first
    assert all(title in full for title in ("Check list and traps", "Operators", "Launch geometry", "Kernels by name"))
    assert "\nMemory\n" not in full  # none is recorded, which "could not look" says
    assert "memory: no allocations" in first


def test_a_row_of_an_operator_is_what_was_worked_out(tmp_path):
    """137.4 GFLOP and 100.7 MB in 200 µs; 138.9 µs at the peak: 69.5 %."""
    (row,) = tables.operators(made(tmp_path)).shown()
    assert row[1:] == (
        "aten::mm", "[[4096,4096],[4096,4096]]", "1", "200 µs", "200 µs", "30 µs", "25 µs", "137 GFLOP", "101 MB",
        "1365", "687 TFLOP/s", "compute", "69.5 %",
    )  # fmt: skip


def test_a_row_of_a_launch_is_what_was_worked_out(tmp_path):
    """8 CTAs of 4 warps and 64 registers fit on an SM of 132: 264 are 2 each, a quarter of a wave, half the warps."""
    (row,) = tables.geometry(made(tmp_path)).shown()
    assert row[3:5] == ("264 x 1 x 1", "128 x 1 x 1")
    assert row[9:] == ("2", "0.25", "25 %", "50 %", "registers")


@pytest.mark.parametrize("name", REAL)
def test_tables_of_real_traces_have_a_row_for_each_of_the_json(name):
    found, document = real(name), to_dict(real(name))
    for make, key in ((tables.operators, "operators"), (tables.geometry, "geometry"), (tables.checks, "checks")):
        assert len(make(found).rows) == len(document[key])
    for make in MAKERS:
        assert all(len(row) == len(make(found).columns) for row in make(found).shown())
