"""Memory: the peak, when it was, and who holds it."""

import pytest

from synperf.analysis.memory import memory
from synperf.analysis.nested import nested

from ..traces.kineto_files import event, read
from .references import trace

MIB = 2**20


def change(time, size, address=None, total=None, device=(1, 0), **more):
    """An allocation, or a release below 0."""
    args = {"Bytes": size, "Device Type": device[0], "Device Id": device[1]}
    args |= {} if address is None else {"Addr": address}
    args |= {} if total is None else {"Total Allocated": total, "Total Reserved": 4 * MIB}
    return event("[memory]", time, 0, "cpu_instant_event", args=args, **more) | {"ph": "i", "s": "t"}


def found_in(made):
    return memory(made, nested(made.events))


def test_the_peak_is_held_by_those_that_allocated_what_is_live_then(tmp_path):
    """1 MiB from before; a takes 2, b 1 and gives it back, c takes 3: the peak is 6, of which a and c hold 5."""
    events = [
        event("aten::a", 0, 10), event("aten::empty", 1, 5), change(2, 2 * MIB, 100, 3 * MIB),
        event("aten::b", 20, 10), change(22, MIB, 200, 4 * MIB), change(28, -MIB, 200, 3 * MIB),
        event("aten::c", 40, 10), change(42, 3 * MIB, 200, 6 * MIB),
        change(60, -3 * MIB, 200, 3 * MIB),
    ]  # fmt: skip
    (one,) = found_in(read(tmp_path, events))
    assert (one.peak_bytes, one.peak_ns - one.start_ns, one.reserved_bytes) == (6 * MIB, 40_000, 4 * MIB)
    assert (one.before_bytes, one.start_bytes, one.end_bytes) == (MIB, MIB, 3 * MIB)
    assert [(held.operator, held.blocks, held.bytes) for held in one.holders] == [
        ("aten::c", 1, 3 * MIB), ("aten::a", 1, 2 * MIB)
    ]  # fmt: skip
    assert sum(held.share for held in one.holders) == pytest.approx(5 / 6)
    assert (max(one.line_bytes), one.line_bytes[0], len(one.line_bytes)) == (6 * MIB, 3 * MIB, 240)


def test_without_totals_it_counts_from_the_begin(tmp_path):
    (one,) = found_in(read(tmp_path, [change(0, 5, 1), change(10, 7, 2), change(20, -5, 1)]))
    assert (one.is_absolute, one.peak_bytes, one.before_bytes, one.reserved_bytes) == (False, 12, None, None)
    assert [(held.operator, held.bytes) for held in one.holders] == [("", 12)]


def test_without_addresses_nobody_is_named(tmp_path):
    (one,) = found_in(read(tmp_path, [event("aten::a", 0, 50), change(10, 5), change(20, 7), change(30, -5)]))
    assert (one.peak_bytes, one.holders) == (12, ())


def test_devices_and_the_host_are_apart(tmp_path):
    events = [change(0, 5, 1), change(1, 50, 1, device=(1, 1)), change(2, 500, 1, device=(0, -1)), change(3, -5, 1)]
    found = found_in(read(tmp_path, events))
    assert [(one.device, one.is_host, one.peak_bytes) for one in found] == [
        (0, False, 5),
        (1, False, 50),
        (-1, True, 500),
    ]


def test_a_trace_without_changes_has_none(tmp_path):
    assert found_in(read(tmp_path, [event("aten::a", 0, 50)])) == ()


@pytest.mark.parametrize("name", ["qwen05b_h100_infer", "qwen05b_mi300_infer"])
def test_blocks_of_real_traces_and_what_was_there_before_make_the_peak(name):
    """Every block is accounted for: before the first and after the last change the same is handed out."""
    one = next(one for one in found_in(trace(name)) if not one.is_host)
    side = trace(name).events.allocations
    rows = side.device_type != 0
    assert one.peak_bytes == int(side.allocated_bytes[rows].max()) == max(one.line_bytes)
    assert one.before_bytes + sum(held.bytes for held in one.holders) == one.peak_bytes
    assert one.before_bytes == one.start_bytes == one.end_bytes
