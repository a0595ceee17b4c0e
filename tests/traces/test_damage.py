"""Damaged traces: what can be read, with a warning; or one sentence. No traceback, no wrong total in silence."""

import json
import random
import re

import pytest

from synperf.analysis import analyze
from synperf.errors import PerfError
from synperf.report.analysis import to_dict, to_text
from synperf.traces import read_trace
from synperf.traces.events import Kind

from .kineto_files import call, document, event, kernel, read, write
from .test_kineto import EVENTS, numbers

MANY = [
    part
    for n in range(40)
    for part in (
        event("aten::add", 100 * n, 30, args={"External id": n}),
        call("cudaLaunchKernel", 100 * n + 5, 4, correlation=n + 1),
        kernel("vectorized_elementwise_kernel", 100 * n + 20, 60.125, correlation=n + 1),
    )
]


def cautions(trace):
    return [one.text for one in trace.cautions]


def test_a_file_that_ends_early_says_so_and_gives_what_is_there(tmp_path):
    text = document(MANY)
    trace = read(tmp_path, text[: len(text) // 2])
    assert 40 < len(trace.events) < 80
    assert any("ends before" in text for text in cautions(trace))


def test_a_gzip_file_that_ends_early_says_so(tmp_path):
    whole = write(tmp_path, MANY, "whole.gz").read_bytes()
    trace = read(tmp_path, whole[: len(whole) * 2 // 3])
    assert any("ends early" in text for text in cautions(trace))


def test_an_event_that_lost_a_quote_is_counted(tmp_path):
    trace = read(tmp_path, document(MANY).replace('"aten::add"', '"aten::add', 1))
    found = next(one for one in trace.cautions if "cannot be read" in one.text)
    assert (found.count, len(trace.events)) == (1, len(MANY) - 1)
    assert 0 < found.share < 0.05


def test_where_two_writers_crossed_the_rest_is_read(tmp_path):
    text = document(MANY)
    crossed = text[:3000] + text[500:]
    trace = read(tmp_path, crossed)
    assert len(trace.events) >= len(MANY) - 5
    assert any("cannot be read" in text for text in cautions(trace))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ts": None}, "without a time"),
        ({"ts": "soon"}, "without a time"),
        ({"dur": [1]}, "without a time"),
        ({"dur": -5}, "negative duration"),
        ({"ts": 0, "dur": 0}, "without a time"),
        ({"ts": 1e40}, "without a time"),
        ({"ts": 9_200_000_000_000_000}, "without a time"),
        ({"dur": 9_200_000_000_000_000}, "without a time"),
        ({"cat": "strange"}, "unknown categories"),
        ({"ph": "Q"}, "unknown categories"),
        ({"name": 7}, "without a name"),
    ],
)
def test_one_odd_field_is_told_and_harms_no_other_event(tmp_path, change, said):
    trace = read(tmp_path, [*MANY, kernel("odd", 5000, 7) | change])
    assert any(said in text for text in cautions(trace))
    if said != "without a name":
        assert numbers(trace) == numbers(read(tmp_path, MANY))


@pytest.mark.parametrize("field", ["ts", "dur", "cat", "ph", "name"])
def test_a_kernel_that_lost_a_field_is_told(tmp_path, field):
    odd = {key: value for key, value in kernel("odd", 5000, 7).items() if key != field}
    assert cautions(read(tmp_path, [*MANY, odd]))


@pytest.mark.parametrize("odd", ["null", "7", '"x"', "[]", '[{"ph": "X"}]'])
@pytest.mark.parametrize("place", [0, 20, len(MANY)])
def test_what_is_no_event_is_counted_and_costs_none(tmp_path, odd, place):
    texts = list(map(json.dumps, MANY))
    trace = read(tmp_path, f'{{"traceEvents": [{", ".join([*texts[:place], odd, *texts[place:]])}], "traceName": "x"}}')
    assert numbers(trace) == numbers(read(tmp_path, MANY))
    assert [one.count for one in trace.cautions] == [1]


@pytest.mark.parametrize("behind", ["]", '"Device Type": 1}}]', "]]", "{}"])
def test_what_stands_behind_a_list_is_told(tmp_path, behind):
    trace = read(tmp_path, json.dumps(MANY) + behind)
    assert numbers(trace) == numbers(read(tmp_path, MANY))
    assert any("cannot be read" in text for text in cautions(trace))


def test_an_object_that_ends_with_its_events_says_what_may_be_missing(tmp_path):
    text = document(MANY)
    assert any("beside the events" in one for one in cautions(read(tmp_path, text[: text.rindex("]") + 1])))


@pytest.mark.parametrize("phase", ["b", "M", "i", "C", "s"])
def test_work_in_a_phase_that_is_none_of_work_is_told(tmp_path, phase):
    trace = read(tmp_path, [*MANY, kernel("odd", 5000, 7) | {"ph": phase}])
    assert any("unknown categories" in text for text in cautions(trace))


@pytest.mark.parametrize("place", [2**31, 2**64, None, "here", -3])
def test_gpu_work_without_a_device_is_told(tmp_path, place):
    odd = kernel("odd", 5000, 7, device=place)
    assert "kernel events without a device" in cautions(read(tmp_path, [*MANY, odd]))
    assert cautions(read(tmp_path, [*MANY, odd | {"pid": 0}])) == []


def test_what_is_there_twice_counts_once(tmp_path):
    trace = read(tmp_path, [*MANY, *MANY[:9]])
    assert numbers(trace) == numbers(read(tmp_path, MANY))
    assert len(trace.events) == len(MANY)
    assert [one.count for one in trace.cautions if "twice" in one.text] == [9]


def test_events_that_only_look_alike_are_all_kept(tmp_path):
    instant = {"ph": "i", "name": "[memory]", "ts": 5, "pid": 1, "tid": 1, "args": {"Bytes": 512, "Device Type": 1}}
    alike = [
        kernel("k", 0, 5, stream=7),
        kernel("k", 0, 5, stream=8),
        instant,
        instant,
        event("f", 0, 1),
        event("f", 0, 1),
    ]
    assert len(read(tmp_path, alike).events) == len(alike)


def test_ranks_that_were_merged_into_one_file_are_told(tmp_path):
    other = [one | {"pid": 200} if one["cat"] == "cuda_runtime" else one | {"ts": one["ts"] + 1} for one in MANY]
    found = analyze(write(tmp_path, [*MANY, *other]))
    assert [one.count for one in found.cautions if "merged" in one.text] == [80]


def test_a_base_time_that_cannot_be_one_is_left_out(tmp_path):
    trace = read(tmp_path, EVENTS, baseTimeNanoseconds=2**63 - 1)
    assert trace.events.start_ns[0] == 0
    assert any("2116" in text for text in cautions(trace))


def test_a_begin_without_an_end_is_told(tmp_path):
    trace = read(tmp_path, [*MANY, {"ph": "B", "cat": "cpu_op", "name": "open", "ts": 1, "pid": 1, "tid": 1}])
    assert any("other half" in text for text in cautions(trace))


def test_damaged_metadata_leaves_the_events(tmp_path):
    text = document(EVENTS, distributedInfo={"rank": 1}).replace('{"rank"', '{rank"').replace('"rank"', 'rank"')
    trace = read(tmp_path, text)
    assert numbers(trace) == numbers(read(tmp_path, EVENTS))
    assert any("beside the events" in text for text in cautions(trace))


@pytest.mark.parametrize("field", ["deviceProperties", "distributedInfo", "baseTimeNanoseconds"])
def test_a_damaged_field_beside_the_events_is_told(tmp_path, field):
    text = document(MANY, **{field: [{"id": 0, "name": "V100"}]}).encode().replace(b'"V100"', b'"V\xff100"')
    assert f"fields beside the events cannot be read: {field}" in cautions(read(tmp_path, text))


def test_odd_characters_beside_the_events_are_told(tmp_path):
    trace = read(tmp_path, document(MANY, deviceProperties=[{"id": 0, "name": "V100"}]).replace('"id"', '\0"id"'))
    assert [device.name for device in trace.devices] == ["V100"]
    assert any("beside them, had odd characters" in text for text in cautions(trace))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"SQLite format 3\0rest", "SQLite"),
        (b"\x7fELF\0\0", "program"),
        (b'{"schema": "1.0", "nodes": []}', "execution trace"),
        (b'{"a": 1}', "without trace events"),
        (b"hello", "text of no known form"),
        (b'{"traceEvents": 5, "x": 1}', "no list of events"),
        (b'{"traceEvents": [{"ph" "X"}]}', "none of its events"),
        (
            b'{"traceEvents": [{"ph": "X", "cat": "toplevel", "name": "a", "ts": 1, "dur": 2}]}',
            "tool, in categories such as toplevel",
        ),
        (b'{"ph": "X", "cat": "kernel", "ts": 1}\n{"ph": "X", "ts": 2}', "events in another form"),
        (b'1, "ph": "X", "ts": 5, "dur": 7}, {"ph": "X", "ts": 6}]', "begin is missing"),
        (b"\xff\xfe{\0", "UTF-16"),
        (b"\x1f\x8b\x08\0\0", "nothing of it can be unpacked"),
        (b"\x89\xfa\xfb random \xfc", "binary data"),
        (b"[2026-11-30 12:00:00] a log", "text of no known form"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\x80\x04\x95", "memory snapshot"),
        (b"NVR\0\1\2", "report of Nsight Compute; right would be its CSV"),
    ],
)
def test_what_is_no_trace_is_one_sentence(tmp_path, content, said):
    with pytest.raises(PerfError, match=re.escape(said)):
        read_trace(write(tmp_path, content))


def test_a_report_of_nsight_systems_is_known_by_its_name(tmp_path):
    with pytest.raises(PerfError, match="nsys export --type sqlite"):
        read_trace(write(tmp_path, b"\1\2\3", "run.nsys-rep"))


HARD = {
    "braces": "{" * 300_000,
    "events that never close": '{"ph":"X","a":[{"b":1}],' * 20_000,
    "pieces of events": '{"ph":"X","a":{"b":1},' * 20_000,
    "things that are no events": "null," * 100_000 + "null]",
    "a list as deep as it is long": '{"ph":"X","args":{"x":' + "[" * 100_000,
    "a text without end": '{"ph":"X","name":"' + "a" * 1_000_000,
}


@pytest.mark.parametrize("rest", HARD.values(), ids=HARD)
def test_damage_all_over_is_told_in_time_that_grows_with_the_file_alone(tmp_path, rest):
    trace = read(tmp_path, f"[{json.dumps(kernel('k', 0, 5))},\n{rest}")
    assert [trace.events.text(row) for row in trace.events.of(Kind.KERNEL)] == ["k"]
    assert any("cannot be read" in text for text in cautions(trace))


def test_a_trace_without_events_is_read(tmp_path):
    found = analyze(write(tmp_path, []))
    assert [one.question for one in found.unseen] == ["what the GPU did", "steps"]


def mutants(text, count, seed):
    """Texts with bytes cut out, doubled, exchanged or replaced, and events with fields dropped or of other types."""
    random_ = random.Random(seed)
    values = [None, [], {}, "x", -1, 1e308, 2**70, True, "NaN", [[]], "", 0]
    for _ in range(count):
        kind = random_.randrange(6)
        begin = random_.randrange(len(text))
        end = min(len(text), begin + random_.randrange(200))
        if kind == 0:
            yield text[:begin]
        elif kind == 1:
            yield text[:begin] + text[end:]
        elif kind == 2:
            yield text[:end] + text[begin:]
        elif kind == 3:
            yield text[:begin] + bytes(random_.randrange(256) for _ in range(3)) + text[begin + 1 :]
        else:
            found = json.loads(text)
            for one in random_.sample(found["traceEvents"], 3):
                target = one["args"] if kind == 5 and one.get("args") else one
                target[random_.choice(list(target))] = random_.choice(values)
            yield json.dumps(found).encode()


@pytest.mark.parametrize("seed", range(6))
def test_no_mutant_ends_in_a_traceback(tmp_path, seed):
    for mutant in mutants(document(MANY).encode(), 40, seed):
        try:
            found = analyze(write(tmp_path, mutant))
        except PerfError:
            continue
        assert to_text(found)
        assert to_dict(found)
        for one in found.overlaps:
            assert one.busy_ns + one.idle_ns == one.span_ns
            assert one.compute_ns + one.exposed_copy_ns + one.exposed_comm_ns == one.busy_ns


@pytest.mark.parametrize("occupancy", ["1e400", -3, 1e300, "NaN", 250])
def test_an_occupancy_that_cannot_be_is_none(tmp_path, occupancy):
    geometry = {"grid": [1, 1, 1], "block": [32, 1, 1], "registers per thread": 32}
    path = write(tmp_path, [kernel("k", 0, 5, **geometry, **{"est. achieved occupancy %": occupancy})])
    assert to_dict(analyze(path))["kernels"][0]["occupancy"] is None


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        (r"a\ud83d", "a\ufffd"),
        (r"\ude00b", "\ufffdb"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud83d", r"\ud83d"),
    ],
)
def test_half_of_a_letter_in_a_name_costs_no_event(tmp_path, spelled, name):
    """Names that a program cuts may end in one of the two escapes of a letter."""
    path = write(tmp_path, [kernel("plain", 0, 5), kernel("NAME", 10, 5)])
    path.write_text(path.read_text().replace("NAME", spelled))
    (trace,) = read_trace(path)
    assert name in trace.events.names
    assert len(trace.events) == 2
    assert any("odd characters" in text for text in cautions(trace)) == ("\ufffd" in name)
