"""A large file read by two processes gives what one gives, to the order of rows and texts, or one reads it."""

import gzip
import json
import os
import signal
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from synperf import FileFormatError
from synperf.traces import json_events, kineto, kineto_pair, sources

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


def event(number):
    kind = ("cpu_op", "cuda_runtime", "kernel", "user_annotation")[number % 4]
    thread = -1_029_147_072 if kind == "cpu_op" else "worker" if number % 5 else 7
    return {
        "ph": "X", "cat": kind, "name": f"{kind} {number % 37}",
        "pid": 0 if kind == "kernel" else f"process {number % 3}", "tid": thread,
        "ts": f"{number // 3}.{number % 1000:03}", "dur": 2.5, "args": {
            "External id": number, "correlation": number, "device": 0, "stream": 7, "registers per thread": 32,
            "grid": [number % 9 + 1, 1, 1], "block": [64, 1, 1], "Input Dims": [[number % 11, 4]],
            "Input type": ["float"],
        },
    }  # fmt: skip


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "CHUNK", 4096)
    monkeypatch.setattr(kineto_pair, "_WORTH_BYTES", 0)

    def written(events, tail='],"deviceProperties":[{"id":0,"name":"A100"}],"traceName":"x"}'):
        path = tmp_path / "trace.json.gz"
        body = ",\n".join(one if isinstance(one, str) else json.dumps(one) for one in events)
        path.write_bytes(gzip.compress(('{"schemaVersion": 1, "traceEvents": [' + body + tail).encode()))
        return path

    return written


def open_files():
    return len(list(Path("/dev/fd").iterdir()))


def both(path, monkeypatch):
    """What two processes give and what one gives, and whether two did."""
    done = []
    joined = kineto_pair._joined
    monkeypatch.setattr(kineto_pair, "_joined", lambda *parts: done.append(True) or joined(*parts))
    (pair,) = kineto.read(path)
    monkeypatch.setattr(kineto_pair, "_worth", lambda _: False)
    (one,) = kineto.read(path)
    return pair, one, bool(done)


def assert_same(one, other, where=""):
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, where
        np.testing.assert_array_equal(one, other, where)
    elif hasattr(one, "__dataclass_fields__"):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name), f"{where}.{field.name}")
    else:
        assert one == other, where


def test_rows_texts_and_side_tables_are_those_of_one(write, monkeypatch):
    pair, one, did = both(write(map(event, range(1000))), monkeypatch)
    assert did
    assert len(pair.events) == 1000
    assert_same(pair, one)


def test_events_that_are_set_aside_are_counted_once(write, monkeypatch):
    odd = [event(n) | ({"dur": -1} if n % 7 == 0 else {"ts": None} if n % 11 == 0 else {}) for n in range(800)]
    pair, one, did = both(write(odd), monkeypatch)
    assert did
    assert pair.cautions
    assert_same(pair, one)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda events: [*events[:400], '{"ph": "X", "cat": "kernel", "name": "broken', *events[400:]],
        lambda events: [*events[:400], {"ph": "B", "cat": "cpu_op", "name": "x", "ts": 1}, *events[400:]],
        lambda events: [*events[:400], event(1) | {"tid": -5}, *events[400:]],
        lambda events: [*events[:400], event(1) | {"name": {"odd": 1}}, *events[400:]],
    ],
    ids=["damage", "halves", "a number as that of a text", "an odd type"],
)
def test_what_two_cannot_read_alike_is_read_by_one(write, monkeypatch, spoil):
    pair, one, _ = both(write(spoil(list(map(event, range(800))))), monkeypatch)
    assert_same(pair, one)


def test_a_file_that_ends_early_is_told(write, monkeypatch):
    pair, one, _ = both(write(map(event, range(600)), tail=""), monkeypatch)
    assert "ends before its list of events does" in pair.cautions[0].text
    assert_same(pair, one)


def test_a_file_without_events_is_refused_and_leaves_no_process(write):
    path = write([])
    path.write_bytes(gzip.compress(b'{"deviceProperties": [], "x": 1}'))
    with pytest.raises(FileFormatError, match="no list of events"):
        kineto.read(path)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_child_that_dies_leaves_the_work_to_one(write, monkeypatch):
    path = write(map(event, range(600)))
    monkeypatch.setattr(kineto_pair, "_send", lambda *_: os._exit(3))
    (found,) = kineto.read(path)
    assert len(found.events) == 600
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("part", ["pipe", "fork"])
def test_a_system_that_has_no_second_process_leaves_the_work_to_one(write, monkeypatch, part):
    def refused():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    path, before = write(map(event, range(600))), open_files()
    monkeypatch.setattr(os, part, refused)
    assert len(kineto.read(path)[0].events) == 600
    assert open_files() == before


def test_a_program_that_ignores_its_children_is_served(write):
    kept = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert len(kineto.read(write(map(event, range(600))))[0].events) == 600
    finally:
        signal.signal(signal.SIGCHLD, kept)


@pytest.mark.parametrize("size", [0.5, 2])
def test_a_file_that_changes_while_it_is_read_is_read_again_by_one(write, monkeypatch, size):
    path, seen = write(map(event, range(600))), []
    run = kineto_pair.Reading.run

    def changed(reading):
        run(reading)
        if not reading.stream.turn and not seen.append(1):
            whole = gzip.decompress(path.read_bytes())
            path.write_bytes(gzip.compress(whole[: int(len(whole) * size)]))

    monkeypatch.setattr(kineto_pair.Reading, "run", changed)
    pair, one, did = both(path, monkeypatch)
    assert seen
    assert not did
    assert bool(pair.cautions) == (size < 1)
    assert_same(pair, one)


def test_too_little_memory_for_two_leaves_the_work_to_one(write, monkeypatch):
    def refused(*_):
        raise MemoryError

    path = write(map(event, range(600)))
    monkeypatch.setattr(kineto_pair, "_joined", refused)
    assert len(kineto.read(path)[0].events) == 600


def test_a_child_whose_parent_has_ended_ends_too(write, monkeypatch):
    monkeypatch.setattr(os, "getppid", lambda: 1)
    pair, one, did = both(write(map(event, range(600))), monkeypatch)
    assert not did
    assert_same(pair, one)


def test_no_signal_is_held_back_after_a_file(write):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    kineto.read(write(map(event, range(600))))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_an_interrupt_ends_both(write, monkeypatch):
    path = write(map(event, range(600)))
    cut = json_events.JsonEvents.boundary
    here, seen = os.getpid(), []

    def interrupted(text):
        seen.append(1)
        if os.getpid() == here and len(seen) > 3:
            raise KeyboardInterrupt
        return cut(text)

    monkeypatch.setattr(json_events.JsonEvents, "boundary", staticmethod(interrupted))
    with pytest.raises(KeyboardInterrupt):
        kineto.read(path)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_small_files_are_read_by_one(tmp_path, monkeypatch):
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"traceEvents": [event(n) for n in range(4)]}))
    monkeypatch.setattr(kineto_pair, "_joined", lambda *_: pytest.fail("two read it"))
    assert len(kineto.read(path)[0].events) == 4
