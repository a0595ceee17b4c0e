"""The Perfetto trace is valid, holds the part that was asked for, and reads back as the trace it was made of."""

import json
from dataclasses import fields

import pytest

from synperf.analysis.whole import Analysis, analyze_traces
from synperf.report.perfetto import Part, write
from synperf.traces import read_trace

from .analysed import REAL, ranks_of, real, traces

OF_HOST = ("sources", "cautions", "unseen", "dataloaders", "findings")  # name the file, or share out all of its events
NOT_WRITTEN = ("gpus", "operators", "geometry", "memory", "checks")  # ask for the GPU, shapes, registers, allocations


def written(folder, made, **part):
    """The events of the file, the findings among them last, and how many are the trace's."""
    count = write(folder / "out.json", made, analyze_traces(made), Part(**part), str)
    events = json.loads((folder / "out.json").read_text())["traceEvents"]
    assert sum(one["ph"] == "X" and one["cat"] != "synperf" for one in events) == count
    return events


def named(events, cat=None):
    return [one["name"] for one in events if one["ph"] == "X" and one["cat"] == (cat or one["cat"])]


@pytest.mark.parametrize("name", [name for name in REAL if not name.startswith("dlrm")])
def test_it_reads_back_as_the_same_trace(tmp_path, name):
    write(tmp_path / "out.json", ranks_of(name), real(name), Part(), str)
    again = analyze_traces(read_trace(tmp_path / "out.json"))
    for field in fields(Analysis):
        if field.name not in (*OF_HOST, *NOT_WRITTEN):
            assert getattr(again, field.name) == getattr(real(name), field.name), field.name


def test_every_event_has_what_chrome_asks_for(tmp_path):
    for one in written(tmp_path, traces(tmp_path, 2)):
        assert isinstance(one["pid"], int)
        assert one["ph"] in ("X", "M")
        if one["ph"] == "X":
            assert one["dur"] >= 0
            assert isinstance(one["ts"], float)
            assert one["name"]


def test_a_window_keeps_what_overlaps_it(tmp_path):
    events = written(tmp_path, traces(tmp_path), start_ns=110_000, end_ns=520_000)  # the first GPU event is at 200 µs
    kernels = [one for one in events if one.get("cat") == "kernel"]
    assert [one["name"] for one in kernels] == ["secret_project::kernel<float>"]
    assert "Memcpy HtoD (Pageable -> Device)" not in named(events)
    assert written(tmp_path, traces(tmp_path), start_ns=10**12) is not None


def test_ranks_and_streams_can_be_chosen(tmp_path):
    made = traces(tmp_path, 2)
    assert (
        len(named(written(tmp_path, made, ranks=(1,)), "kernel")) == len(named(written(tmp_path, made), "kernel")) / 2
    )
    (only,) = set(named(written(tmp_path, made, streams=(9,)), "kernel"))
    assert only.startswith("nccl")


def test_findings_and_gaps_are_tracks_of_their_own(tmp_path):
    made = traces(tmp_path)
    found, events = analyze_traces(made), written(tmp_path, made)
    annotations = set(named(events, "synperf"))
    assert {one.title for one in found.findings} <= annotations
    assert {f"idle: {one.cause}" for one in found.gaps} <= annotations
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    for one in events:
        if one.get("cat") == "synperf":
            assert tracks[one["pid"], one["tid"]] == "longest gaps" or one["name"] in tracks[one["pid"], one["tid"]]


def test_slices_of_a_finding_do_not_overlap(tmp_path):
    events = written(tmp_path, traces(tmp_path, 2))
    ends = {}
    for one in (one for one in events if one.get("cat") == "synperf"):
        place = (one["pid"], one["tid"])
        assert one["ts"] >= ends.get(place, float("-inf")) - 1e-6
        ends[place] = one["ts"] + one["dur"]
