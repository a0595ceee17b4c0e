"""Waits of the host for the device."""

import json

from synperf.analysis import analyze
from synperf.analysis.waits import Waits, waits

from ..cli.runner import invoke
from ..traces.kineto_files import call, event, kernel, read, write

FORWARD = [
    event("forward", 0, 12_000),
    *[call("cudaLaunchKernel", 100 * n, 5, correlation=n + 1) for n in range(100)],
    *[kernel("bert", 900 * n + 2000, 900, correlation=n + 1) for n in range(100)],
    call("cudaDeviceSynchronize", 12_000, 80_000),
]


def test_a_wait_knows_how_much_of_it_the_gpu_worked(tmp_path):
    events = [kernel("k", 0, 100), call("cudaStreamSynchronize", 50, 60), call("cudaStreamSynchronize", 200, 5)]
    (found,) = waits(read(tmp_path, events))
    assert found == Waits(rank=None, name="cudaStreamSynchronize", count=2, total_ns=65_000, worked_ns=50_000)


def test_calls_that_wait_for_nothing_are_no_waits(tmp_path):
    assert waits(read(tmp_path, [call("cudaLaunchKernel", 0, 9), call("cudaMemcpyAsync", 20, 9)])) == ()


def test_a_synchronisation_after_forward_is_told_to_be_the_time_of_its_kernels(tmp_path):
    """A user case: forward returns after 12 ms and the synchronisation takes 80. It cannot be made faster."""
    path = write(tmp_path, FORWARD)
    found = json.loads(invoke("analyze", str(path), "--json").out)
    assert 80e6 <= found["ranks"][0]["busy_ns"] <= 92e6
    assert found["waits"] == [
        {"rank": None, "name": "cudaDeviceSynchronize", "count": 1, "total_ns": 80_000_000, "worked_ns": 80_000_000}
    ]
    assert not any(one["title"].startswith("The host waits") for one in found["findings"])
    line = (
        "cudaDeviceSynchronize: 1 wait of 80 ms in all; in 100 % of it the GPU worked: that is the time of kernels and"
        " copies, and is not won by leaving the call out"
    )
    assert line in " ".join(invoke("analyze", str(path)).out.split())


def test_every_rank_has_its_own(tmp_path):
    files = [
        write(tmp_path, [call("cudaDeviceSynchronize", 0, dur)], f"{rank}.json", distributedInfo={"rank": rank})
        for rank, dur in enumerate((5, 8))
    ]
    assert [(one.rank, one.total_ns) for one in analyze(files).waits] == [(0, 5000), (1, 8000)]
