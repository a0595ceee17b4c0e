"""XPlane profiles: small ones encoded here, and a real one against sums over its picoseconds."""

import gzip
import tracemalloc

import numpy as np
import pytest

from synperf.analysis import analyze
from synperf.errors import FileFormatError
from synperf.traces import read_trace
from synperf.traces.events import Kind
from synperf.traces.protobuf import Damage, fields, signed
from tests.traces import xplane_files as xp
from tests.traces.shared_files import real

STATS = ("correlation_id", "kernel_details", "memcpy_details", "step_num", "core_count")
KERNEL = xp.event(
    1,
    2_000_000,
    5_000_600,
    xp.stat(1, 9),
    xp.stat(2, "regs:32 static_shared:1024 dynamic_shared:0 grid:10,2,1 block:128,1,1 occ_pct:50"),
)
COPY = xp.event(2, 9_000_000, 1_000_000, xp.stat(3, "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"))
GPU = xp.plane(
    "/device:GPU:1",
    [xp.line(7, "Stream #7(Kernel,MemcpyH2D)", 1000, KERNEL, COPY)],
    ("fusion", "MemcpyH2D"),
    STATS,
    [xp.stat(5, 132)],
)
CALL, STEP = xp.event(1, 0, 1000, xp.stat(1, 9)), xp.event(2, 0, 9_000_000, xp.stat(4, 5))
HOST = xp.plane(
    "/host:CPU",
    [xp.line(3, "python", 1000, CALL, STEP, xp.event(3, 0, 2000), xp.event(4, 0, 2000))],
    ("cuLaunchKernel", "train", "$train.py:3 main", "Execute"), STATS,
)  # fmt: skip


def one(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    (trace,) = read_trace(tmp_path / "a")
    return trace


def texts(trace, kind):
    return [trace.events.text(row) for row in trace.events.of(kind)]


def test_streams_of_a_gpu_hold_kernels_and_copies(tmp_path):
    trace = one(tmp_path, xp.space(GPU))
    events = trace.events
    (kernel,), (copy,) = events.of(Kind.KERNEL), events.of(Kind.MEMCPY)
    assert (events.text(kernel), events.start_ns[kernel], events.dur_ns[kernel]) == ("fusion", 3000, 5001)
    assert (events.device[kernel], events.stream[kernel], events.correlation[kernel]) == (1, 7, 9)
    assert events.text(copy) == "Memcpy HtoD (Pinned -> Device)"
    assert events.moved.bytes.tolist() == [4096]
    assert events.geometry.grid.tolist() == [[10, 2, 1]]
    assert (events.geometry.registers[0], events.geometry.shared_bytes[0]) == (32, 1024)
    assert events.geometry.occupancy[0] == 0.5
    assert [(device.number, device.num_sms) for device in trace.devices] == [(1, 132)]


def test_threads_of_the_host_hold_calls_steps_frames_and_operators(tmp_path):
    trace = one(tmp_path, xp.space(HOST, GPU))
    assert texts(trace, Kind.DRIVER) == ["cuLaunchKernel"]
    assert texts(trace, Kind.ANNOTATION) == ["step 5"]
    assert texts(trace, Kind.PYTHON) == ["$train.py:3 main"]
    assert texts(trace, Kind.OPERATOR) == ["Execute"]
    assert trace.events.thread[trace.events.of(Kind.DRIVER)].tolist() == [3]


def test_lines_that_are_no_streams_are_no_work(tmp_path):
    derived = xp.plane("/device:GPU:0", [xp.line(1, "XLA Modules", 0, xp.event(1, 0, 99_000))], ("jit_f",))
    assert texts(one(tmp_path, xp.space(derived)), Kind.GPU_ANNOTATION) == ["jit_f"]


def test_the_session_says_when_it_began_and_absolute_lines_stay(tmp_path):
    session = xp.plane("Task Environment", (), (), ("profile_start_time",), [xp.stat(1, 10**18)])
    assert one(tmp_path, xp.space(session, GPU)).events.start_ns.tolist() == [10**18 + 3000, 10**18 + 10_000]
    absolute = xp.plane("/device:GPU:0", [xp.line(1, "Stream #1", 10**18 + 7, xp.event(1, 0, 1000))], ("k",))
    assert one(tmp_path, xp.space(session, absolute)).events.start_ns.tolist() == [10**18 + 7]


def test_a_packed_profile_is_read(tmp_path):
    assert len(one(tmp_path, gzip.compress(xp.space(GPU))).events) == 2


def test_what_is_not_shown_is_counted(tmp_path):
    negative, late = xp.event(1, 0, -5000), xp.event(1, 2**63 - 1, 1)
    counted = xp.field(1, 1) + xp.field(5, 12)
    odd = xp.plane(
        "/device:GPU:0", [xp.line(1, "Stream #1", 2**62, late, negative, counted, xp.event(9, -1000, 1000))], ("k",)
    )
    tpu = xp.plane("/device:TPU:0")
    trace = one(tmp_path, xp.space(odd, GPU, tpu, errors=("lost",)))
    assert {caution.text: caution.count for caution in trace.cautions} == {
        "events that are counted and have no time left out": 1,
        "events with a negative duration left out": 1,
        "events with an impossible time left out": 1,
        "names of events are not in the file": 1,
        "planes of devices that are no GPUs are not read": 1,
        "errors and warnings of the profiler are in the file": 1,
    }


def test_a_profile_cut_short_gives_what_is_there_and_says_so(tmp_path):
    data = xp.space(GPU, HOST)
    trace = one(tmp_path, data[: len(xp.space(GPU)) + 60])
    assert texts(trace, Kind.KERNEL) == ["fusion"]
    assert any("longer than what is there" in caution.text for caution in trace.cautions)


def test_a_profile_without_events_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(FileFormatError, match="no events of a GPU or the host"):
        one(tmp_path, xp.space(xp.plane("/host:metadata", number=1)))


@pytest.mark.parametrize("value", [0, 1, 127, 128, 2**63 - 1, -1, -(2**63)])
def test_a_varint_comes_back(value):
    ((number, found),) = fields(memoryview(xp.field(12, value)), Damage())
    assert (number, signed(found)) == (12, value)


@pytest.mark.parametrize("data", [b"\x0b", b"\xff" * 20, b"\x08", b"\x08" + b"\x80" * 11])
def test_a_malformed_field_ends_its_message(data):
    damage = Damage()
    assert list(fields(memoryview(xp.field(1, 5) + data), damage)) == [(1, 5)]
    assert damage.bytes == len(data)


# (kernels, sum of durations in ps, span in ps) of each GPU, by a reader of bytes that has nothing in common with ours
JAX = {
    0: (60, 4_000_165_000, 138_470_832_000),
    1: (25, 3_345_845_000, 112_106_106_000),
    2: (25, 3_524_285_000, 106_992_671_000),
    3: (25, 3_403_364_000, 95_261_145_000),
    4: (25, 3_493_365_000, 91_596_080_000),
    5: (25, 3_464_884_000, 92_938_503_000),
    6: (25, 3_403_004_000, 104_221_477_000),
    7: (25, 3_502_165_000, 90_563_059_000),
}


def test_a_real_profile_equals_sums_over_its_picoseconds():
    (trace,) = read_trace(real("jax08_conv_mi300.xplane.pb"))
    events, found = trace.events, {one.device: one for one in analyze(trace).overlaps}
    rows = events.of(Kind.KERNEL)
    for device, (count, total_ps, span_ps) in JAX.items():
        here = rows[events.device[rows] == device]
        assert (len(here), int(events.dur_ns[here].sum()) * 1000) == (count, total_ps)
        assert found[device].span_ns * 1000 == span_ps
    launches = events.correlation[events.of(Kind.RUNTIME)]
    assert np.isin(events.correlation[rows], launches).all()
    assert trace.cautions == ()


def test_a_profile_is_read_without_holding_it_in_memory(tmp_path):
    """A kernel's details are most of a profile's bytes: many kernels of them are read in less than their bytes."""
    details = "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:128,1,1 occ_pct:50 " + "x" * 4000
    kernels = [xp.event(1, 1000 * n, 900, xp.stat(2, details)) for n in range(8000)]
    (tmp_path / "a").write_bytes(
        xp.space(xp.plane("/device:GPU:0", [xp.line(1, "Stream #1", 1000, *kernels)], ("k",), STATS))
    )
    del kernels
    read_trace(tmp_path / "a")  # imports what it needs
    tracemalloc.start()
    (trace,) = read_trace(tmp_path / "a")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trace.events) == 8000
    assert peak < (tmp_path / "a").stat().st_size / 2
