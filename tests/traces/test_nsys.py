"""Exports of Nsight Systems: small ones written here, and real ones against plain SQL."""

import re
import sqlite3
from collections import defaultdict
from contextlib import closing

import numpy as np
import pytest

from synperf.analysis import analyze
from synperf.errors import FileFormatError
from synperf.traces import read_trace
from synperf.traces.events import Kind
from tests.traces import nsys_files as nsys
from tests.traces.shared_files import real, reference

KERNEL, COPY, CALL, NVTX = (
    "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
)  # fmt: skip


def one(path):
    (trace,) = read_trace(path)
    return trace


def texts(trace, kind):
    return [trace.events.text(row) for row in trace.events.of(kind)]


def cautions(trace):
    return {caution.text: caution.count for caution in trace.cautions}


def test_a_kernel_has_its_times_place_name_launch_and_call(tmp_path):
    tables = {KERNEL: (nsys.KERNELS, [nsys.kernel(50, 90)]), CALL: (nsys.CALLS, [nsys.call(10, 20)])}
    trace = one(nsys.write(tmp_path / "a", **tables))
    events = trace.events
    (row,), (launch,) = events.of(Kind.KERNEL), events.of(Kind.RUNTIME)
    assert (events.text(row), events.start_ns[row], events.dur_ns[row]) == ("void gemm<float>(int)", 50, 40)
    assert (events.device[row], events.stream[row], events.process[row]) == (0, 7, 100)
    assert events.correlation[row] == events.correlation[launch] == 7
    assert (events.text(launch), events.thread[launch]) == ("cudaLaunchKernel", 5)
    side = events.geometry
    assert side.grid.tolist() == [[10, 2, 1]]
    assert side.block.tolist() == [[128, 1, 1]]
    assert (side.registers[0], side.shared_bytes[0]) == (32, 3072)
    assert trace.cautions == ()


def test_processes_are_traces_of_their_own_as_correlations_repeat(tmp_path):
    kernels = [nsys.kernel(0, 10), nsys.kernel(5, 25, process=200, device=1)]
    calls = [nsys.call(0, 1), nsys.call(0, 1, process=200)]
    first, second = read_trace(
        nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, kernels), CALL: (nsys.CALLS, calls)})
    )
    assert (first.source, second.source) == ("a, process 100", "a, process 200")
    assert first.events.dur_ns[first.events.of(Kind.KERNEL)].tolist() == [10]
    assert second.events.dur_ns[second.events.of(Kind.KERNEL)].tolist() == [20]
    assert len(first.events) == len(second.events) == 2


def test_host_events_of_a_process_without_gpu_work_are_counted_not_shown(tmp_path):
    calls = [nsys.call(0, 1), nsys.call(0, 1, process=200), nsys.call(1, 2, process=200)]
    trace = one(nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), CALL: (nsys.CALLS, calls)}))
    assert cautions(trace) == {"host events of processes without GPU work left out": 2}


def test_an_export_with_calls_alone_is_read(tmp_path):
    trace = one(nsys.write(tmp_path / "a", **{CALL: (nsys.CALLS, [nsys.call(0, 1)])}))
    assert texts(trace, Kind.RUNTIME) == ["cudaLaunchKernel"]


def test_kernels_without_a_process_are_of_the_only_one_that_calls(tmp_path):
    columns = tuple(name for name in nsys.KERNELS if name != "globalPid")
    row = tuple(v for name, v in zip(nsys.KERNELS, nsys.kernel(0, 9), strict=True) if name != "globalPid")
    trace = one(nsys.write(tmp_path / "a", **{KERNEL: (columns, [row]), CALL: (nsys.CALLS, [nsys.call(0, 1)])}))
    assert trace.events.process.tolist() == [100, 100]


def test_a_table_with_a_version_behind_its_name_is_read(tmp_path):
    marks = [(1, 9, 59, "step 1", nsys.GLOBAL[100] | 5, None, 0)]
    tables = {f"{KERNEL}_V2": (nsys.KERNELS, [nsys.kernel(0, 9)]), f"{NVTX}_V2": (nsys.NVTX, marks)}
    trace = one(nsys.write(tmp_path / "a", **tables))
    assert texts(trace, Kind.KERNEL) == ["void gemm<float>(int)"]
    assert texts(trace, Kind.ANNOTATION) == ["step 1"]


def test_nvtx_has_ranges_marks_registered_texts_and_operators_of_pytorch(tmp_path):
    thread = nsys.GLOBAL[100] | 5
    rows = [
        (0, 50, 59, "aten::mm, seq = 4, op_id = 12, sizes = [[2, 3], [3, 4]], input_op_ids = [1]", thread, None, 0),
        (1, 2, 60, None, thread, 4, 0),
        (3, None, 34, "here", thread, None, 0),
        (4, None, 59, "never closed", thread, None, 0),
        (5, 6, 59, 77, thread, 4, 0),
        (0, None, 75, "a domain", thread, None, 0),
    ]
    trace = one(nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), NVTX: (nsys.NVTX, rows)}))
    assert texts(trace, Kind.OPERATOR) == ["aten::mm"]
    assert [trace.events.names[dims] for dims in trace.events.arguments.dims] == ["[[2, 3], [3, 4]]"]
    assert texts(trace, Kind.ANNOTATION) == ["marked", "marked"]
    assert texts(trace, Kind.MARK) == ["here"]
    assert cautions(trace) == {"NVTX ranges without a begin or an end left out": 1}


@pytest.mark.parametrize(
    ("codes", "name"),
    [
        ((1, 0, 2), "Memcpy HtoD (Pageable -> Device)"),
        ((2, 2, 1), "Memcpy DtoH (Device -> Pinned)"),
        ((8, 2, 2), "Memcpy DtoD (Device -> Device)"),
        ((10, 9, 9), "Memcpy PtoP"),
        ((11, 9, 9), "Memcpy HtoD unified"),
        ((77, 0, 2), "Memcpy Unknown (Pageable -> Device)"),
    ],
)
def test_a_copy_is_named_as_the_pytorch_profiler_does(tmp_path, codes, name):
    copy = (0, 9, 0, 1, 7, 3, nsys.GLOBAL[100], 4096, *codes)
    tables = {COPY: (nsys.COPIES, [copy]), "ENUM_CUDA_MEM_KIND": (("id", "name", "label"), nsys.MEMORY)}
    trace = one(nsys.write(tmp_path / "a", **tables))
    assert texts(trace, Kind.MEMCPY) == [name]
    assert trace.events.moved.bytes.tolist() == [4096]


def test_waits_are_no_work_and_graphs_as_a_whole_are(tmp_path):
    where = (0, 1, 7, 3, nsys.GLOBAL[100])
    tables = {
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": ((*nsys.GPU, "syncType"), [(0, 50, *where, 3)]),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": ((*nsys.GPU, "graphId"), [(10, 30, *where, 4)]),
        "CUPTI_ACTIVITY_KIND_MEMSET": ((*nsys.GPU, "bytes"), [(40, 45, *where, 64)]),
    }
    trace = one(nsys.write(tmp_path / "a", **tables))
    assert texts(trace, Kind.SYNC) == ["Stream Sync"]
    assert texts(trace, Kind.KERNEL) == ["CUDA graph 4"]
    assert texts(trace, Kind.MEMSET) == ["Memset"]
    assert "graphs were recorded as a whole: the kernels in them are not known" in cautions(trace)
    assert analyze(trace).overlaps[0].busy_ns == 25


@pytest.mark.parametrize("table", ["META_DATA_EXPORT", "EXPORT_META_DATA"])
def test_versions_of_schema_2_and_3_are_told_and_nothing_else(tmp_path, table):
    metadata = [
        ("EXPORT_SCHEMA_VERSION", "2.9.1"),
        ("EXPORT_PRODUCT_VERSION", "2022.4"),
        ("EXPORT_PARAM_INPUT_FILE", "me"),
    ]
    trace = one(
        nsys.write(
            tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), table: (("name", "value"), metadata)}
        )
    )
    assert trace.host == {"nsys": "2022.4", "schema": "2.9.1"}


def test_a_schema_that_is_newer_is_warned_of(tmp_path):
    metadata = (("name", "value"), [("EXPORT_SCHEMA_VERSION", "4.0.0")])
    trace = one(
        nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), "META_DATA_EXPORT": metadata})
    )
    assert any("4.0.0 is newer" in text for text in cautions(trace))


def test_times_count_from_1970_where_the_export_says_when_it_began(tmp_path):
    began = (("utcEpochNs",), [(1_700_000_000_000_000_000,)])
    tables = {KERNEL: (nsys.KERNELS, [nsys.kernel(50, 90)]), "TARGET_INFO_SESSION_START_TIME": began}
    assert one(nsys.write(tmp_path / "a", **tables)).events.start_ns.tolist() == [1_700_000_000_000_000_050]


def test_a_gpu_is_described(tmp_path):
    gpu = (("id", "name", "smCount", "totalMemory", "computeMajor", "computeMinor"), [(0, "Big GPU", 132, 80, 9, 0)])
    (device,) = one(
        nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), "TARGET_INFO_GPU": gpu})
    ).devices
    assert (device.number, device.name, device.num_sms, device.compute_capability) == (0, "Big GPU", 132, (9, 0))


def test_text_that_is_not_utf8_is_read(tmp_path):
    path = nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)])})
    path.write_bytes(path.read_bytes().replace(b"void gemm<float>(int)", b"void \xff\xfemm<float>(int)"))
    assert texts(one(path), Kind.KERNEL) == ["void \ufffd\ufffdmm<float>(int)"]


def test_rows_with_impossible_times_are_set_aside_and_counted(tmp_path):
    rows = [nsys.kernel(0, 9), nsys.kernel(9, 3), nsys.kernel(None, 3), nsys.kernel("soon", 3)]
    trace = one(nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, rows)}))
    assert len(trace.events) == 1
    assert cautions(trace) == {
        "kernels with a negative duration left out": 1, "kernels without a begin or an end left out": 2
    }  # fmt: skip


def test_a_kernel_that_is_there_twice_counts_once(tmp_path):
    trace = one(nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)] * 2)}))
    assert len(trace.events) == 1
    assert cautions(trace) == {"copies of GPU events that were there twice left out": 1}


def test_a_file_cut_short_says_how_much_is_missing(tmp_path):
    rows = [nsys.kernel(at, at + 5, correlation=at + 1) for at in range(0, 40_000, 10)]
    path = nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, rows)})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    trace = one(path)
    assert 0 < len(trace.events) < 4000
    early = next(caution for caution in trace.cautions if "ends early" in caution.text)
    assert early.share == pytest.approx(1 / 3, abs=0.01)
    assert any("tables are damaged" in text for text in cautions(trace))


def test_an_export_without_events_is_refused_in_one_sentence(tmp_path):
    path = nsys.write(tmp_path / "a", META_DATA_EXPORT=(("name", "value"), []))
    with pytest.raises(
        FileFormatError, match="no events can be read: it is an export of Nsight Systems without kernels"
    ):
        read_trace(path)


def test_another_database_is_not_taken_for_one(tmp_path):
    with sqlite3.connect(tmp_path / "a") as file:
        file.execute("CREATE TABLE cats (name)")
    with pytest.raises(FileFormatError, match="is an SQLite database"):
        read_trace(tmp_path / "a")


FILES = ("tiny_rtx3080.sqlite", "wan_h100_2gpu_before.sqlite", "wan_h100_2gpu_after.sqlite")


@pytest.mark.parametrize("name", FILES)
def test_device_times_of_real_exports_equal_plain_sql(name):
    wanted = reference("nsys")[name]["devices"]
    found = {str(one.device): one for one in analyze(real(f"nsys/{name}")).overlaps}
    assert found.keys() == wanted.keys()
    for device, times in wanted.items():
        got = found[device]
        exact = {key: round(value * 1000) for key, value in times.items() if key.endswith("_us")}
        assert got.kernels == times["kernels"]
        assert (got.span_ns, got.busy_ns, got.idle_ns) == (exact["span_us"], exact["busy_us"], exact["idle_us"])
        assert got.compute_ns == exact["compute_us"]
        assert got.comm_ns == exact["comm_us"]


@pytest.mark.parametrize("name", FILES)
def test_kernels_copies_and_calls_of_real_exports_equal_plain_sql(name):
    wanted, short = reference("nsys")[name], short_names(real(f"nsys/{name}"))
    kernels, calls, launched = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0]), 0
    for trace in read_trace(real(f"nsys/{name}")):
        events = trace.events
        for kind, sums in ((Kind.KERNEL, kernels), (Kind.RUNTIME, calls), (Kind.DRIVER, calls)):
            for row in events.of(kind):
                one = sums[short.get(events.text(row), events.text(row))]
                one[0] += 1
                one[1] += int(events.dur_ns[row])
        known = events.correlation[events.of(Kind.RUNTIME, Kind.DRIVER)]
        launched += int(np.isin(events.correlation[events.of(Kind.KERNEL)], known).sum())
    assert launched == wanted["kernels_with_a_launch"]
    for row in wanted["top_kernels"]:
        assert kernels[row["name"]] == [row["count"], round(row["total_us"] * 1000)]
    for row in wanted["runtime_top"]:
        assert calls[re.sub(r"_v\d+$", "", row["name"])] == [row["count"], round(row["total_us"] * 1000)]


def short_names(path):
    """The short name of each full one, as the export has them."""
    full, short = (f"JOIN StringIds {name} ON {name}.id = {name}Name" for name in ("demangled", "short"))
    query = f"SELECT DISTINCT demangled.value, short.value FROM {KERNEL} {full} {short}"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as file:
        return dict(file.execute(query))


@pytest.mark.parametrize("name", FILES)
def test_copies_of_real_exports_equal_plain_sql(name):
    analysis = analyze(real(f"nsys/{name}"))
    found = {
        (one.device, one.direction): (one.count, one.bytes, one.total_ns)
        for one in analysis.copies if one.direction != "memset"
    }  # fmt: skip
    wanted = reference("nsys")[name]["memcpy"]
    assert found == {(r["device"], r["kind"]): (r["count"], r["bytes"], round(r["total_us"] * 1000)) for r in wanted}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME", b"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIMf"),
        (b"table" + CALL.encode(), b"tabl." + CALL.encode()),
        (CALL.encode() + b" (start", CALL.encode() + b" (sta)t"),
    ],
)
def test_a_table_whose_own_description_is_damaged_is_told(tmp_path, old, new):
    path = nsys.write(
        tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)]), CALL: (nsys.CALLS, [nsys.call(0, 1)])}
    )
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    trace = one(path)
    assert texts(trace, Kind.KERNEL) == ["void gemm<float>(int)"]
    assert any(CALL in text for text in cautions(trace))


def test_a_table_without_a_name_is_told(tmp_path):
    path = nsys.write(tmp_path / "a", **{KERNEL: (nsys.KERNELS, [nsys.kernel(0, 9)])})
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA writable_schema = ON")
        file.execute("INSERT INTO sqlite_master (type, name, sql) VALUES ('table', NULL, 'x'), (NULL, 7, 8)")
        file.commit()
    assert any("tables are damaged" in text for text in cautions(one(path)))
