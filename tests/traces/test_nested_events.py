"""Events in whose arguments and names there is what looks like the border of two events, or the end of their list."""

import gzip
import json

import pytest

from synperf.traces import kineto_columns, kineto_stream, read_trace
from synperf.traces.events import Kind

from .kineto_files import kernel

COUNT = 600
BORDERS = '}, {"ph": "X", "ts": 1}]}, "traceEvents": [ {'


def nested(objects, every=1):
    return [
        kernel("k", 10 * n, 5, correlation=n + 1, list=[{"a": [{"b": 0}]}] * objects if n % every == 0 else [])
        for n in range(COUNT)
    ]


FILES = {
    "64 objects": nested(32),
    "65 objects": nested(33),
    "many objects": nested(300),
    "thousands of objects in some": nested(2500, every=250),
    "more objects than a chunk has": nested(30_000, every=400),
    "names with borders": [kernel(f"a{BORDERS}{n}", 10 * n, 5, correlation=n + 1, x=0) for n in range(COUNT)],
    "some names with braces": [
        kernel("a}, {b" if n % 2 else "k", 10 * n, 5, correlation=n + 1, x=0) for n in range(COUNT)
    ],
}
ODD = {
    "right": (lambda text: text, 0, 0),
    "no number": (lambda text: text.replace('"correlation": 7,', '"correlation": NaN,'), 0, 1),
    "damaged": (lambda text: text.replace('"correlation": 7,', '"correlation": 7e,'), 1, 0),
}


@pytest.fixture(
    params=sorted({kineto_columns.is_compiled, False}), ids=lambda is_on: "compiled" if is_on else "decoded"
)
def either(request, monkeypatch):
    """With the compiled part, where there was a compiler, and without it."""
    monkeypatch.setattr(kineto_stream, "is_compiled", request.param)


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize(("spelled", "lost", "mended"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("events", FILES.values(), ids=FILES)
def test_each_event_is_one(tmp_path, events, spelled, lost, mended):
    path = tmp_path / "trace.json"
    document = {"traceEvents": events, "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}]}
    path.write_text(spelled(json.dumps(document)), encoding="utf-8")
    (found,) = read_trace(path)
    assert len(found.events.of(Kind.KERNEL)) == COUNT - lost
    assert len(found.events) == COUNT - lost
    assert [device.name for device in found.devices] == ["NVIDIA A100"]
    assert [one.count for one in found.cautions] == [1] * (lost + mended)


@pytest.mark.usefixtures("either")
def test_another_list_of_events_is_not_that_of_the_trace(tmp_path):
    path = tmp_path / "trace.json"
    document = {"traceEvents": FILES["65 objects"], "others": nested(1), "deviceProperties": [{"id": 0, "name": "A"}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    (found,) = read_trace(path)
    assert (len(found.events), found.cautions) == (COUNT, ())
    assert [device.name for device in found.devices] == ["A"]


@pytest.mark.parametrize("spaces", [None, 1, 8])
def test_odd_types_are_told_however_a_file_is_printed(tmp_path, spaces):
    path = tmp_path / "trace.json"
    events = [kernel("k", 10 * n, 5, correlation=True if n == 7 else n) for n in range(20)]
    path.write_text(json.dumps({"traceEvents": events}, indent=spaces), encoding="utf-8")
    (found,) = read_trace(path)
    assert len(found.events) == 20
    assert [(one.text.split(",")[0], one.count) for one in found.cautions] == [("events", 1)]


def test_zeros_behind_a_gzip_file_are_no_damage(tmp_path):
    path = tmp_path / "trace.json.gz"
    text = json.dumps({"traceEvents": FILES["64 objects"]}).encode()
    half = len(text) // 2
    path.write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]) + b"\0" * 300_000)
    (found,) = read_trace(path)
    assert (len(found.events), found.cautions) == (COUNT, ())


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("spaces", [None, 1])
def test_a_bracket_too_much_is_no_end_of_the_list(tmp_path, spaces):
    path = tmp_path / "trace.json"
    text = json.dumps({"traceEvents": FILES["names with borders"], "traceName": "x"}, indent=spaces)
    begin = text.index("{", text.index('"correlation": 301,'))
    comma = text.rindex(",", 0, begin)
    path.write_text(f"{text[:comma]}]{text[comma:]}", encoding="utf-8")
    (found,) = read_trace(path)
    assert COUNT - 2 <= len(found.events) <= COUNT
    assert any("cannot be read" in one.text for one in found.cautions)


@pytest.mark.usefixtures("either")
def test_a_lost_quote_beside_names_with_brackets_costs_few_events(tmp_path):
    path = tmp_path / "trace.json"
    events = [kernel(f"a}}]{n}", 10 * n, 5, correlation=n + 1) for n in range(COUNT)]
    text = json.dumps({"traceEvents": events})
    place = text.index('"ph"', len(text) // 2)
    path.write_text(text[:place] + text[place + 1 :], encoding="utf-8")
    (found,) = read_trace(path)
    assert COUNT - 3 <= len(found.events) < COUNT
    assert any("cannot be read" in one.text for one in found.cautions)
