"""What compiled code finds in a trace is what decoded objects say, to the order of rows."""

import gzip
import json
import tracemalloc
from dataclasses import fields

import numpy as np
import pytest

from synperf.traces import kineto, kineto_columns, kineto_stream
from synperf.traces.events import Events
from tests.analysis.references import KINETO, path

pytestmark = pytest.mark.skipif(not kineto_columns.is_compiled, reason="the compiled part was not built")


def event(number):
    kind = ("cpu_op", "cuda_runtime", "kernel", "user_annotation")[number % 4]
    thread = -1_029_147_072 if kind == "cpu_op" else "worker" if number % 5 else 7
    return {
        "ph": "X", "cat": kind, "name": f"{kind} {number % 37}",
        "pid": 0 if kind == "kernel" else f"process {number % 3}", "tid": thread,
        "ts": f"{number // 3}.{number % 1000:03}", "dur": 2.5, "args": {
            "External id": number, "correlation": number, "device": 0, "stream": 7, "registers per thread": 32,
            "grid": [number % 9 + 1, 1, 1], "block": [64, 1, 1], "Input Dims": [[number % 11, 4]],
            "Input type": ["float"], "est. achieved occupancy %": number % 100,
        },
    }  # fmt: skip


@pytest.fixture(params=[1, 100], ids=["runs of a text", "runs of many"])
def both(request, tmp_path, monkeypatch):
    """What both give of a file of such events, and how many texts of it were not decoded."""

    def asked(events, tail='],"deviceProperties":[{"id":0,"name":"A100"}],"traceName":"x"}'):
        path = tmp_path / "trace.json.gz"
        body = ",\n".join(one if isinstance(one, str) else json.dumps(one) for one in events)
        path.write_bytes(
            gzip.compress(('{"schemaVersion": 1, "traceEvents": [' + body + tail).encode(errors="surrogateescape"))
        )
        return twice(path, monkeypatch)

    monkeypatch.setattr(kineto_stream, "CHUNK", 4096)
    monkeypatch.setattr(kineto_stream, "ROWS", request.param)
    return asked


def twice(path, monkeypatch):
    taken = []

    class Noted(kineto_columns.ColumnsReader):
        def add(self, text):
            taken.append(super().add(text))
            return taken[-1]

    monkeypatch.setattr(kineto_stream, "ColumnsReader", Noted)
    (one,) = kineto.read(path)
    monkeypatch.setattr(kineto_stream, "is_compiled", False)
    (other,) = kineto.read(path)
    return one, other, sum(found is not None and found[0] > 0 for found in taken)


def told(names, column):
    """Texts in the place of their numbers, from 0 up, or from -2 down where there are others too."""
    if column.dtype == np.int32:
        return np.array(names)[column]
    return np.array([f"text {names[-2 - one]}" if -2 - len(names) < one < -1 else str(one) for one in column.tolist()])


def assert_same(one, other, where="", names=None):
    """`names` are those of both tables: the same text may have other numbers, which go by the order of runs."""
    names = (one.names, other.names) if isinstance(one, Events) else names
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, where
        np.testing.assert_array_equal(one, other, where)
    elif hasattr(one, "__dataclass_fields__"):
        for field in fields(one):
            two = [getattr(table, field.name) for table in (one, other)]
            if field.metadata.get("text") or (names and field.name in ("process", "thread", "stream")):
                two = [told(known, column) for known, column in zip(names, two, strict=True)]
            if field.name == "names":
                two = [sorted(known) for known in two]
            assert_same(*two, f"{where}.{field.name}", names)
    else:
        assert one == other, where


def test_rows_texts_and_side_tables(both):
    one, other, runs = both(map(event, range(1000)))
    assert runs > 50
    assert len(one.events) == 1000
    assert_same(one, other)


def with_arguments(number, **arguments):
    return event(number) | {"args": event(number)["args"] | arguments}


ODD = {
    "a negative duration": event(1) | {"dur": -1},
    "no time": event(1) | {"ts": None},
    "no times at all": {"ph": "X", "cat": "kernel", "name": "x"},
    "a time in quotes": event(1) | {"ts": "12.5"},
    "a time of many digits": event(1) | {"ts": "1661203462598835.12345678"},
    "a time that rounds once": event(1) | {"ts": "1700000000000000.1234999999999999"},
    "a time with an exponent": event(1) | {"ts": 1.5e300},
    "begin and end apart": {"ph": "B", "cat": "cpu_op", "name": "x", "ts": 1},
    "a number as that of a text": event(1) | {"tid": -5},
    "an odd type": event(1) | {"name": {"odd": 1}},
    "no arguments": {"ph": "X", "cat": "cpu_op", "name": "x", "ts": 1, "dur": 1},
    "arguments of null": event(1) | {"args": None},
    "numbers as text": with_arguments(2, correlation="0x12", device="3", stream="stream 9", grid=["1", "2", "3"]),
    "numbers with a point": with_arguments(2, correlation=7.0, device=1.5),
    "a huge number": with_arguments(2, correlation=10**30),
    "registers as text": with_arguments(2, **{"registers per thread": "many"}),
    "letters": event(1) | {"name": 'é "quoted" \\ 汉'},
    "raw letters": '{"ph": "X", "cat": "cpu_op", "name": "é 汉", "ts": 1, "dur": 2}',
    "bytes that are no letters": '{"ph": "X", "cat": "cpu_op", "name": "\udcff", "ts": 1, "dur": 2}',
    "a slash": '{"ph": "X", "cat": "cpu_op", "name": "a\\/b", "ts": 1, "dur": 2}',
    "an escaped key": '{"ph": "X", "cat": "cpu_op", "n\\u0061me": "a", "ts": 1, "dur": 2}',
    "a key twice": '{"ph": "X", "cat": "cpu_op", "name": "a", "name": "b", "ts": 1, "dur": 2, "args": 1, "args": {}}',
    "not a number": '{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "args": {"x": NaN}}',
    "damage": '{"ph": "X", "cat": "kernel", "name": "broken',
    "null": "null",
    "memory": {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": 3, "args": {"Bytes": -512, "Addr": 9}},
    "a mark": {"ph": "i", "cat": "x", "name": "Iteration Start", "ts": 3},
    "an unknown category": event(1) | {"cat": "strange"},
    "a copy": with_arguments(2, bytes=4096) | {"cat": "gpu_memcpy"},
    "old spellings": with_arguments(0, **{"Input dims": [[1]], "external id": 4}),
    "a frame of Python": with_arguments(1, **{"Python id": 4, "Python parent id": 3}) | {"cat": "python_function"},
    "a collective": with_arguments(2, **{
        "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 8, "Group size": 2, "Process Group Name": 0,
        "Process Group Ranks": "[0, 1]",
    }),
    "a collective without a name": with_arguments(2, **{"Collective name": None, "Group size": 2}),
    "an operator of a collective": with_arguments(0, **{"Collective name": "x"}) | {"name": "record_param_comms"},
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_events(both, odd):
    events = [*map(event, range(200)), odd, *map(event, range(200, 400))]
    one, other, runs = both(events)
    assert runs
    assert_same(one, other)


def test_thousands_of_phases_and_categories_take_no_more_memory_than_there_are(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    strange = [{"ph": f"p{number}", "cat": f"c{number}"} for number in range(5000)]
    path.write_text(json.dumps({"traceEvents": [*strange, *map(event, range(8))]}), encoding="utf-8")
    tracemalloc.start()
    try:
        one, other, runs = twice(path, monkeypatch)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert runs
    assert peak < 40e6
    assert_same(one, other)


def test_a_file_that_ends_early(both):
    one, other, runs = both(map(event, range(600)), tail="")
    assert runs
    assert "ends before its list of events does" in one.cautions[0].text
    assert_same(one, other)


@pytest.mark.parametrize("name", KINETO)
def test_real_traces(name, monkeypatch):
    one, other, runs = twice(path(name), monkeypatch)
    assert runs
    assert_same(one, other)
