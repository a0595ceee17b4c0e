"""Traces of our own that have something of everything, and real ones beside this checkout."""

from functools import cache

from synperf.analysis.whole import analyze_traces
from synperf.traces import read_trace

from ..analysis.references import DLRM, KINETO, trace
from ..traces.kineto_files import call, copy, event, kernel, write

SECRET = "secret_project::kernel<float>"
FRAME = "/home/someone/secret_project/train.py(7): main"


def events(rank=0, late=0):
    """Two steps of a rank, whose collective starts `late` µs later, and ends with that of the others."""
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    return [
        event("ProfilerStep#1", 0, 1000, "user_annotation"),
        event(loader, 5, 180, "user_annotation"),
        event(FRAME, 0, 2000, "python_function"),
        call("cudaMemcpyAsync", 190, 5, correlation=1),
        copy("Memcpy HtoD (Pageable -> Device)", 200, 100, device=rank, correlation=1, bytes=10**6),
        event("aten::mm", 300, 40),
        call("cudaLaunchKernel", 310, 5, correlation=2),
        kernel(SECRET, 400, 300, device=rank, correlation=2, grid=[4, 2, 1], block=[128, 1, 1]),
        call("cudaLaunchKernel", 320, 5, correlation=3),
        kernel("ampere_sgemm_128x64</script><b>", 720, 100, device=rank, correlation=3),
        event("ProfilerStep#2", 1000, 1000, "user_annotation"),
        call("cudaLaunchKernel", 1400 + late, 5, correlation=4),
        kernel("ncclDevKernel_AllReduce_Sum", 1500 + late, 300 - late, stream=9, device=rank, correlation=4),
        kernel("lonely", 1900, 10.001, device=rank, correlation=99),
    ]  # fmt: skip


def traces(folder, ranks=1):
    """The traces of the ranks; the last one is late."""
    host = {"deviceProperties": [{"id": rank, "name": "NVIDIA H100"} for rank in range(ranks)], "with_stack": 1}
    files = [
        write(
            folder, events(rank, 150 * (rank == ranks - 1)), f"secret_rank{rank}.json", **host,
            distributedInfo={"rank": rank, "world_size": ranks},
        )
        for rank in range(ranks)
    ]  # fmt: skip
    return [one for file in files for one in read_trace(file)]


REAL = ("resnet50_v100_dataloader0", "qwen05b_h100_infer", "cpu_only_no_gpu_events", "cupti_counters_a100", DLRM)


def ranks_of(name):
    """The traces of a real job."""
    return [trace(one) for one in KINETO if one == name or one.startswith(f"{name}/")]


@cache
def real(name):
    """The analysis of a real job."""
    return analyze_traces(ranks_of(name))
