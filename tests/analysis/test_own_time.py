"""Own time: what the host spends in a range and in none below it."""

import pytest

from synperf.analysis.intervals import Intervals
from synperf.analysis.own_time import label, own_times

from ..traces.kineto_files import call, event, read
from .references import KINETO, trace


def owned(events):
    """Own microseconds by name."""
    rows, own = own_times(events)
    return {events.text(row): time / 1000 for row, time in zip(rows.tolist(), own.tolist(), strict=True)}


def test_what_is_called_is_taken_off_once(tmp_path):
    nested = [event("outer", 0, 100), event("middle", 10, 50), call("inner", 20, 10), event("late", 70, 5)]
    assert owned(read(tmp_path, nested).events) == {"outer": 45, "middle": 40, "inner": 10, "late": 5}


def test_threads_have_nothing_to_do_with_each_other(tmp_path):
    both = [event("one", 0, 100), event("two", 10, 50, tid=7)]
    assert owned(read(tmp_path, both).events) == {"one": 100, "two": 50}


def test_damaged_ranges_that_cross_count_no_time_twice(tmp_path):
    crossed = [event("first", 0, 10), event("second", 5, 10)]
    assert owned(read(tmp_path, crossed).events) == {"first": 5, "second": 10}


def test_steps_and_data_loaders_have_one_name():
    assert label("ProfilerStep#16") == label("ProfilerStep#17") == "ProfilerStep#N"
    single, several = (
        f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__" for kind in ("SingleProcess", "MultiProcessing")
    )
    assert label(single) == label(several) == "DataLoader"
    assert label("aten::conv2d") == "aten::conv2d"


@pytest.mark.parametrize("name", KINETO)
def test_own_times_add_up_to_what_threads_were_in(name):
    events = trace(name).events
    rows, own = own_times(events)
    assert (own >= 0).all()
    places = {(p, t) for p, t in zip(events.process[rows].tolist(), events.thread[rows].tolist(), strict=True)}
    whole = sum(
        Intervals.of(events, rows[(events.process[rows] == p) & (events.thread[rows] == t)]).total_ns for p, t in places
    )
    assert own.sum() == whole
