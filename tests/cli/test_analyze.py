"""`synperf analyze`, as a user sees it."""

import json

from ..traces.kineto_files import call, event, kernel, write
from .runner import assert_refused, invoke

EVENTS = [
    event("ProfilerStep#1", 0, 1000, "user_annotation"),
    call("cudaLaunchKernel", 5, 4, correlation=1),
    kernel("sgemm", 10, 300, correlation=1),
    event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 320, 400, "user_annotation"),
    call("cudaLaunchKernel", 730, 4, correlation=2),
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 740, 100, correlation=2),
]
META = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "distributedInfo": {"rank": 0, "world_size": 2}}
TEXT = """\
trace.json: kineto, rank 0 of 2, 6 events, NVIDIA H100

The GPU computes for 36.1 %, only communicates for 12 % and is idle for 51.8 % of the time. The largest part of the
idle time, 430 µs: the host waited for the DataLoader.

could not look
  operators: none were recorded; right would be activities of the CPU too
  waves and occupancy: the trace has no launch geometry with registers
  memory: no allocations were recorded; right would be profile_memory=True
  Python in gaps: no stacks were recorded; right would be with_stack=True
  collectives across ranks: there is one rank only; right would be the files of all ranks

rank  device    span    busy  compute  exposed copy  exposed comm    idle  idle %  kernels
   0       0  830 µs  400 µs   300 µs           0 s        100 µs  430 µs  51.8 %        2

rank  steps  found by      median
   0      1  ProfilerStep    1 ms

DataLoader: 1 wait of 400 µs in all, 40 % of the trace

kernels     count   total  share
gemm            1  300 µs   75 %
collective      1  100 µs   25 %

idle        gaps   total  because
dataloader     1  430 µs  the host waited for the DataLoader

longest gaps      at  cause       host in
      430 µs  300 µs  dataloader  enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__

findings
  1. The GPU waits for data, up to 430 µs
     1 gap, 430 µs idle, 51.8 % of the span: the host waited for the DataLoader
     Use more DataLoader workers, pin_memory and prefetching; decode ahead of time or on the GPU.
  2. Communication is not hidden, up to 100 µs
     100 µs of 100 µs are exposed, 12 % of the span; 0 % of it overlaps computation or copies
     Overlap it with computation (buckets, prefetching, a stream of its own) or move fewer bytes; where ranks arrive at
     different times, even them out first: waiting for the last one counts as communication.
"""


def test_the_text_is_one_screen(tmp_path):
    seen = invoke("analyze", str(write(tmp_path, EVENTS, **META)))
    assert (seen.code, seen.err, seen.out) == (0, "", TEXT)


def test_what_one_screen_has_no_room_for_is_counted_and_is_there_in_full(tmp_path):
    paths = [
        str(write(tmp_path, EVENTS, f"{rank}.json", **META | {"distributedInfo": {"rank": rank, "world_size": 10}}))
        for rank in range(10)
    ]
    screen, full = invoke("analyze", *paths).out, invoke("analyze", *paths, "--full").out
    assert screen.count("\n2 more with --full") == 3  # files, devices, steps
    assert "9.json: kineto" not in screen
    assert "9.json: kineto" in full
    assert " more with " not in full
    assert max(map(len, screen.splitlines())) <= 120


def test_the_json_has_the_documented_keys(tmp_path):
    found = json.loads(invoke("analyze", str(write(tmp_path, EVENTS, **META)), "--json").out)
    assert {"source", "warnings", "ranks", "steps", "families", "gaps", "collectives", "findings"} <= set(found)
    (rank,) = found["ranks"]
    wanted = {"rank": 0, "device": 0, "span_ns": 830_000, "busy_ns": 400_000, "idle_ns": 430_000, "compute_ns": 300_000,
              "exposed_copy_ns": 0, "exposed_comm_ns": 100_000, "comm_ns": 100_000, "kernels": 2, "copies": 0,
              "gpu": "NVIDIA H100"}  # fmt: skip
    assert wanted.items() <= rank.items()
    assert set(found["findings"][0]) == {"title", "evidence", "saving_ns", "advice", "rank", "ranges"}


def test_several_ranks_are_one_job(tmp_path):
    paths = [
        write(tmp_path, EVENTS, f"{rank}.json", **META | {"distributedInfo": {"rank": rank, "world_size": 2}})
        for rank in range(2)
    ]
    found = json.loads(invoke("analyze", *map(str, paths), "--json").out)
    assert [one["rank"] for one in found["ranks"]] == [0, 1]
    assert len(found["collectives"]) == 1


def test_what_is_no_trace_is_refused(tmp_path):
    assert_refused(invoke("analyze", str(write(tmp_path, b"hello"))))
    assert_refused(invoke("analyze", str(tmp_path)))
    assert_refused(invoke("analyze", str(tmp_path / "none.json")))
    assert_refused(invoke("analyze"))


def test_names_do_not_reach_the_terminal_as_they_are(tmp_path):
    odd = [event("\x1b[31mProfilerStep#1", 0, 9, "user_annotation"), kernel("k", 0, 1), kernel("k", 5, 1)]
    odd += [event("red\x1b[31m\nline", 0, 9)]
    assert "\x1b" not in invoke("analyze", str(write(tmp_path, odd))).out


def test_full_goes_on_after_the_first_screen(tmp_path):
    seen = invoke("analyze", str(write(tmp_path, EVENTS, **META)), "--full")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.startswith(TEXT.rstrip())
    assert "Why the GPU is used too little" in seen.out
    assert seen.out.count(" unknown ") > 10
