"""Kineto's JSON of every age says the same things in other words."""

import json
import random
import sys
from importlib import import_module

import numpy as np
import pytest

from synperf.analysis.overlap import overlap
from synperf.analysis.work import devices
from synperf.errors import FileFormatError
from synperf.traces import read_trace, sources
from synperf.traces.events import Kind, aligned

from .kineto_files import call, copy, document, event, kernel, read, write

EVENTS = [
    event("aten::mm", 0, 9, args={"External id": 3, "Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"]}),
    call("cudaLaunchKernel", 1, 2, correlation=11),
    kernel("sgemm", 10.001, 20.5, correlation=11, grid=[4, 2, 1], block=[128, 1, 1], **{"registers per thread": 90}),
    copy("Memcpy HtoD (Pinned -> Device)", 25, 10, stream=8, bytes=4096),
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 20.25, stream=9),
]


def numbers(trace):
    """What analyses make of a trace."""
    return [overlap(work) for work in devices(trace)]


def test_events_become_columns_in_order_of_start(tmp_path):
    events = read(tmp_path, EVENTS[::-1]).events
    assert events.start_ns.tolist() == [0, 1000, 10001, 25000, 30000]
    assert events.dur_ns.tolist() == [9000, 2000, 20500, 10000, 20250]
    assert [Kind(kind) for kind in events.kind] == [Kind.OPERATOR, Kind.RUNTIME, Kind.KERNEL, Kind.MEMCPY, Kind.KERNEL]
    assert [events.text(row) for row in range(3)] == ["aten::mm", "cudaLaunchKernel", "sgemm"]
    assert events.correlation.tolist() == [-1, 11, 11, 0, 0]
    assert events.stream.tolist() == [-1, -1, 7, 8, 9]


def test_what_only_some_events_have_is_in_side_tables(tmp_path):
    events = read(tmp_path, EVENTS).events
    rows = events.of(Kind.KERNEL)
    assert aligned(events.geometry, "grid", rows).tolist() == [[4, 2, 1], [-1, -1, -1]]
    assert aligned(events.geometry, "registers", rows).tolist() == [90, -1]
    assert np.isnan(aligned(events.geometry, "occupancy", rows)).all()
    assert aligned(events.moved, "bytes", events.of(Kind.MEMCPY)).tolist() == [4096]
    dims = aligned(events.arguments, "dims", events.of(Kind.OPERATOR))
    assert json.loads(events.names[dims[0]]) == [[4, 8], [8, 2]]


def test_parents_come_before_children_that_start_with_them(tmp_path):
    events = read(tmp_path, [event("child", 5, 1), event("parent", 5, 3)]).events
    assert [events.text(row) for row in range(2)] == ["parent", "child"]


def as_list(events):
    return json.dumps(events)


def without_end(events):
    return json.dumps(events)[:-1]


def without_end_after_a_comma(events):
    return json.dumps(events)[:-1] + ",\n"


def with_text_numbers(events):
    return document([{**one, "ts": str(one["ts"]), "dur": str(one["dur"])} for one in events])


def with_begins_and_ends(events):
    halves = []
    for one in events:
        begin = {key: value for key, value in one.items() if key != "dur"}
        end = {key: one[key] for key in ("pid", "tid", "name")}
        halves += [{**begin, "ph": "B"}, {**end, "ph": "E", "ts": round(one["ts"] + one["dur"], 3)}]
    return document(halves)


def shuffled(events):
    return document(random.Random(1).sample(events, len(events)))


def metadata_behind(events):
    return json.dumps({"traceEvents": events, "deviceProperties": [{"id": 0}, {"id": 1}], "displayTimeUnit": "ms"})


def of_2021(events):
    old = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel", "gpu_memcpy": "Memcpy"}
    made = [{**one, "cat": old[one["cat"]]} for one in events]
    for one in made:
        if one["cat"] in ("Kernel", "Memcpy"):
            one["tid"] = f"stream {one['tid']}"
            one["args"] = {key: value for key, value in one["args"].items() if key != "stream"}
        else:
            one["args"] = {key.replace("External", "external"): value for key, value in one["args"].items()}
    return document(made)


def since_a_base(events):
    return document(events, baseTimeNanoseconds=1_700_000_000_000_000_000)


def with_lists_of_objects(events):
    return document([{**one, "args": {"a": [{"b": 1}, {"c": {"d": 2}}], **one["args"]}} for one in events])


def with_odd_characters(events):
    return document(events).replace("aten::mm", "aten::m\x01").encode().replace(b"sgemm", b"sgem\xff")


VARIANTS = [
    as_list, without_end, without_end_after_a_comma, with_text_numbers, with_begins_and_ends, shuffled, metadata_behind,
    of_2021, with_lists_of_objects, with_odd_characters,
]  # fmt: skip


@pytest.mark.parametrize("spell", VARIANTS)
def test_another_spelling_gives_the_same_numbers(tmp_path, spell):
    assert numbers(read(tmp_path, spell(EVENTS))) == numbers(read(tmp_path, EVENTS))


def test_times_count_from_the_base(tmp_path):
    plain, based = read(tmp_path, EVENTS), read(tmp_path, since_a_base(EVENTS))
    assert (based.events.start_ns - plain.events.start_ns == 1_700_000_000_000_000_000).all()


@pytest.mark.parametrize("name", ["trace.json.gz", "any name at all"])
def test_the_content_says_what_it_is_not_the_name(tmp_path, name):
    assert numbers(read(tmp_path, EVENTS, name)) == numbers(read(tmp_path, EVENTS))


def test_several_gzip_members_are_one_file(tmp_path):
    first, second = write(tmp_path, document(EVENTS)[:200], "a.gz"), write(tmp_path, document(EVENTS)[200:], "b.gz")
    both = first.read_bytes() + second.read_bytes()
    assert numbers(read(tmp_path, both)) == numbers(read(tmp_path, EVENTS))


def test_zstd_is_read(tmp_path):
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packed = zstd.compress(document(EVENTS).encode())
    assert numbers(read(tmp_path, packed)) == numbers(read(tmp_path, EVENTS))


def test_chunks_are_cut_between_events(tmp_path, monkeypatch):
    """However small the chunks, the same events."""
    for size in (1, 100, 333):
        monkeypatch.setattr("synperf.traces.sources.CHUNK", size)
        monkeypatch.setattr("synperf.traces.sources._PACKED", size)
        for spell in (document, with_lists_of_objects, metadata_behind):
            trace = read(tmp_path, spell(EVENTS))
            assert (numbers(trace), trace.cautions) == (numbers(read(tmp_path, EVENTS)), ())


def test_flows_names_and_counters_are_no_events(tmp_path):
    more = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 1, "tid": 1},
        {"ph": "C", "name": "power", "ts": 1, "pid": 1, "args": {"W": 300}},
    ]
    trace = read(tmp_path, EVENTS + more)
    assert (len(trace.events), trace.cautions) == (len(EVENTS), ())


def test_an_operator_with_a_stream_is_no_kernel(tmp_path):
    odd = event("triton_poi_fused_0", 100, 50, args={"stream": 7, "grid": "grid(1024,)"})
    assert numbers(read(tmp_path, [*EVENTS, odd])) == numbers(read(tmp_path, EVENTS))


def test_waits_are_no_work(tmp_path):
    wait = kernel("Stream Sync", 60, 500) | {"cat": "cuda_sync"}
    trace = read(tmp_path, [*EVENTS, wait])
    assert numbers(trace) == numbers(read(tmp_path, EVENTS))
    assert len(trace.events.of(Kind.SYNC)) == 1


def test_changes_of_memory_of_every_age(tmp_path):
    old = {"Bytes": -512, "Device Type": 1, "Device Id": 0}
    new = {"Bytes": 1024, "Addr": 99, "Device Type": 6, "Device Id": 0, "Total Allocated": 4096, "Total Reserved": 8192}
    instants = [{"ph": "i", "s": "t", "name": "[memory]", "ts": 1 + n, "pid": 1, "tid": 1, "args": a}
                for n, a in enumerate((old, new))]  # fmt: skip
    found = read(tmp_path, instants).events.allocations
    assert found.bytes.tolist() == [-512, 1024]
    assert found.allocated_bytes.tolist() == [-1, 4096]
    assert found.device_type.tolist() == [1, 6]


def test_what_a_collective_moved_is_kept(tmp_path):
    args = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float",
            "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}  # fmt: skip
    found = read(
        tmp_path, [kernel("ncclDevKernel_AllReduce", 0, 5, **args), event("record_param_comms", 0, 1, args=args)]
    )
    messages, names = found.events.messages, found.events.names
    assert messages.in_elements.tolist() == [1000, 1000]
    assert [names[n] for n in messages.collective] == ["allreduce"] * 2
    assert [names[n] for n in messages.group] == ["0", "0"]


def test_short_frames_of_python_are_left_out(tmp_path):
    frames = [event(f"f{n}", 0, dur, "python_function", args={"Python id": n}) for n, dur in enumerate((5, 500))]
    events = read(tmp_path, frames).events
    assert [events.text(row) for row in events.of(Kind.PYTHON)] == ["f1"]


def test_rank_world_devices_and_groups(tmp_path):
    trace = read(
        tmp_path, EVENTS, deviceProperties=[{"id": 0, "name": "NVIDIA H100", "numSms": 132}],
        distributedInfo={"rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3]}]},
    )  # fmt: skip
    assert (trace.rank, trace.world_size, dict(trace.groups)) == (3, 8, {"0": (0, 1, 2, 3)})
    assert (trace.devices[0].name, trace.devices[0].num_sms) == ("NVIDIA H100", 132)


def test_metadata_is_not_kept_wholesale(tmp_path):
    trace = read(tmp_path, EVENTS, hostname="node7", token="hf_secret", cuda_driver_version=12080)
    assert dict(trace.host) == {"cuda_driver_version": "12080"}
    assert "secret" not in repr(trace)


def test_events_that_the_profiler_dropped_are_told(tmp_path):
    trace = read(tmp_path, EVENTS, WARNING=["Record counts: Out-of-range = 4181, Blocklisted runtime = 0"])
    assert [(one.count, "dropped" in one.text) for one in trace.cautions] == [(4181, True)]


def test_events_far_behind_other_fields_are_found(tmp_path):
    beside = ",".join(f'"field {number}": [{{"number": {number}}}]' for number in range(10_000))
    event = '{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 2}'
    path = tmp_path / "trace.json"
    path.write_text(f'{{{beside}, "traceEvents": [{event}]}}', encoding="utf-8")
    assert path.stat().st_size > sources.HEAD
    (found,) = read_trace(path)
    assert (len(found.events), found.cautions) == (1, ())


def test_an_object_without_events_is_told_so(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({f"field {number}": number for number in range(10_000)}), encoding="utf-8")
    with pytest.raises(FileFormatError, match="JSON without trace events"):
        read_trace(path)


def test_an_event_longer_than_many_chunks(tmp_path):
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "ts": 1, "dur": 2} for name in ("a", "é" * 2**21, "b")]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    (found,) = read_trace(path)
    assert found.events.names == ("", "a", "é" * 2**21, "b")
