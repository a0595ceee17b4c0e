"""Timelines of Horovod, as its writer writes them."""

import json

import pytest

from synperf.errors import FileFormatError
from synperf.traces import horovod, kineto, read_trace
from synperf.traces.events import Kind

from .kineto_files import event, kernel

TIMELINE = """[
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":1700000000000000}},
{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "grad/conv1"}},
{"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 100, "pid": 1},
{"ph": "X", "name": "0", "ts": 100, "pid": 1, "dur": 0},
{"ph": "X", "name": "1", "ts": 180, "pid": 1, "dur": 0},
{"ph": "E", "ts": 190, "pid": 1},
{"ph": "B", "name": "ALLREDUCE", "ts": 190, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": 200, "pid": 1},
{"ph": "i", "name": "CYCLE_START", "ts": 210, "s": "g"},
{"ph": "E", "ts": 250, "pid": 1},
{"ph": "E", "ts": 260, "pid": 1, "args": {"dtype": "float32", "shape": "[64, 3]"}}]"""


def one(tmp_path, text):
    (tmp_path / "timeline").write_text(text)
    (trace,) = read_trace(tmp_path / "timeline")
    return trace


def rows(trace, kind):
    events = trace.events
    return [(events.text(row), int(events.start_ns[row]), int(events.dur_ns[row])) for row in events.of(kind)]


def test_phases_of_a_tensor_are_nested_ranges_and_ranks_are_marks(tmp_path):
    trace = one(tmp_path, TIMELINE)
    base = 1_700_000_000_000_000_000
    assert trace.format == "horovod"
    assert rows(trace, Kind.ANNOTATION) == [
        ("NEGOTIATE_ALLREDUCE grad/conv1", base + 100_000, 90_000),
        ("ALLREDUCE grad/conv1", base + 190_000, 70_000),
        ("NCCL_ALLREDUCE grad/conv1", base + 200_000, 50_000),
    ]
    assert rows(trace, Kind.MARK) == [
        ("rank 0 ready grad/conv1", base + 100_000, 0),
        ("rank 1 ready grad/conv1", base + 180_000, 0),
        ("CYCLE_START", base + 210_000, 0),
    ]
    assert trace.cautions == ()


def test_a_timeline_and_a_list_of_torch_are_told_apart_by_their_content(tmp_path):
    path = tmp_path / "file"
    path.write_text(TIMELINE)
    head = path.read_bytes()
    assert (horovod.recognises(head, path), kineto.recognises(head, path)) == (True, False)
    of_torch = json.dumps([kernel("k", 0, 5), event("NEGOTIATE_ALLREDUCE", 0, 9)]).encode()
    assert (horovod.recognises(of_torch, path), kineto.recognises(of_torch, path)) == (False, True)


def test_an_older_timeline_counts_from_its_own_zero(tmp_path):
    older = "[\n" + "\n".join(line for line in TIMELINE.splitlines()[1:] if '"pid": 0' not in line)
    assert one(tmp_path, older).events.start_ns.min() == 100_000


def test_a_timeline_that_ends_early_says_what_is_left_out(tmp_path):
    cut = TIMELINE[: TIMELINE.index('{"ph": "E", "ts": 250')]
    (caution,) = one(tmp_path, cut).cautions
    assert ("without the other half" in caution.text, caution.count) == (True, 2)


def test_a_timeline_without_events_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(FileFormatError, match="no event of this Horovod timeline"):
        one(tmp_path, TIMELINE[: TIMELINE.index('{"ph": "B"')].rstrip().rstrip(",") + "]")
