"""One small training of two steps, as the PyTorch profiler wrote it in every age since 2020.

Times are whole µs, so that every age can hold them: totals are the same in all of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
HOST, GPU, COMPUTE, COMMUNICATION = 4242, 0, 7, 20  # a process, a device and two streams
STEP_US, STEPS = 1000, 2
_NEW = {
    "op": "cpu_op", "mark": "user_annotation", "call": "cuda_runtime", "kernel": "kernel", "copy": "gpu_memcpy",
    "set": "gpu_memset", "wait": "cuda_sync", "frame": "python_function", "flow": "ac2g",
}  # fmt: skip
_OLD = _NEW | {
    "op": "Operator", "mark": "Operator", "call": "Runtime", "kernel": "Kernel", "copy": "Memcpy", "set": "Memset",
    "flow": "async",
}  # fmt: skip
_EPOCH_US = 1_615_207_264_000_000
_DEVICE = {
    "id": 0, "name": "Tesla V100-SXM2-32GB", "totalGlobalMem": 34_089_730_048, "computeMajor": 7, "computeMinor": 0,
    "warpSize": 32, "numSms": 80,
}  # fmt: skip
_JOB = {"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}}


@dataclass(frozen=True, kw_only=True)
class Age:
    """How a profiler wrote: its words, what it knew of kernels, its clock, and what stood beside the events."""

    categories: Mapping[str, str] = field(default_factory=lambda: _NEW)
    external: str = "External id"
    dims: str = "Input Dims"
    stream: str = "{}"  # text where it is not a number alone
    base_us: int = _EPOCH_US
    decimals: int | None = None  # of µs
    is_text: bool = False  # times are texts
    has_geometry: bool = True
    has_frames: bool = True
    calls: tuple[str, str] = ("cudaLaunchKernel", "cudaMemcpyAsync")
    top: Mapping[str, Any] | None = field(default_factory=dict)  # None where the file is a list alone

    def time(self, us: int) -> Any:
        return self.written(self.base_us + us)

    def written(self, us: int) -> Any:
        number = us if self.decimals is None else float(us)
        return str(number) if self.is_text else number


AGES = {
    "2020": Age(
        categories=_OLD, external="external id", dims="Input dims", stream="stream {}", has_frames=False, top=None
    ),
    "2021": Age(
        categories=_OLD, external="external id", stream="stream {}", has_frames=False,
        top={"schemaVersion": 1, "deviceProperties": [_DEVICE]},
    ),
    "2022": Age(top={"schemaVersion": 1, "deviceProperties": [_DEVICE], **_JOB}),
    "2024": Age(base_us=0, decimals=3, top={"schemaVersion": 1, "deviceProperties": [_DEVICE], **_JOB}),
    "now": Age(
        base_us=5_000_000, decimals=3,
        top={"deviceProperties": [_DEVICE], **_JOB, "baseTimeNanoseconds": 1_761_000_000_000_000_000},
    ),
    "rocm": Age(
        base_us=77, decimals=3, has_geometry=False, calls=("hipLaunchKernel", "hipMemcpyWithStream"),
        top={"schemaVersion": 1, "roctracer_version": 4, **_JOB},
    ),
    "npu": Age(is_text=True, has_frames=False, top=None),
}  # fmt: skip


def document(age: Age) -> Any:
    """The whole file, before it is written as JSON."""
    events = list(_events(age))
    return events if age.top is None else {**age.top, "traceEvents": events, "traceName": "training"}


def events_of(found: Any) -> list[Event]:
    """The list of events in such a document."""
    events: list[Event] = found if isinstance(found, list) else found["traceEvents"]
    return events


def _events(age: Age) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "ts": age.time(0), "pid": HOST, "tid": 0, "args": {"name": "python"}}
    for step in range(STEPS):
        yield from _step(age, step, step * STEP_US)


def _step(age: Age, step: int, at: int) -> Iterator[Event]:
    launch, move = age.calls
    first = 10 * step + 1  # correlation of the first launch
    yield _on_host(age, "mark", f"ProfilerStep#{step}", at, 990)
    yield _on_host(age, "mark", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 2, 50)
    if age.has_frames:
        frame = {"Python id": first, "Python parent id": None, "Python module id": 0}
        yield _on_host(age, "frame", "train.py(7): step", at + 1, 900, **frame)
    for place, (name, kernel, dur) in enumerate(_WORK):
        begin, ids = at + 60 + 100 * place, first + place
        yield _on_host(age, "op", name, begin, 40, **{age.external: ids, age.dims: [[64, 64], [64, 64]]})
        yield _on_host(age, "call", launch, begin + 5, 6, **{age.external: ids, "correlation": ids})
        stream = COMMUNICATION if kernel.startswith("nccl") else COMPUTE
        geometry = _GEOMETRY if age.has_geometry else {}
        yield _on_gpu(age, "kernel", kernel, begin + 20, dur, stream, ids, **{age.external: ids}, **geometry)
        yield {"ph": "s", "id": ids, "pid": HOST, "tid": HOST, "ts": age.time(begin + 5), "cat": age.categories["flow"],
               "name": "launch"}  # fmt: skip
    yield _on_host(age, "call", move, at + 700, 8, correlation=first + 7)
    yield _on_gpu(age, "copy", "Memcpy HtoD (Pageable -> Device)", at + 705, 30, COMPUTE, first + 7, bytes=4096)
    yield _on_host(age, "call", "cudaMemsetAsync", at + 750, 4, correlation=first + 8)
    yield _on_gpu(age, "set", "Memset (Device)", at + 760, 2, COMPUTE, first + 8, bytes=512)
    yield _on_gpu(age, "wait", "Stream Sync", at + 765, 200, COMPUTE, first + 9)
    told = {"Bytes": 4096, "Addr": 1024 + step, "Device Type": 1, "Device Id": 0}
    yield {"ph": "i", "s": "t", "name": "[memory]", "pid": HOST, "tid": HOST, "ts": age.time(at + 70), "args": told}


_WORK = (  # operator, kernel, µs
    ("aten::mm", "volta_sgemm_64x64_nt", 90),
    ("aten::add", "vectorized_elementwise_kernel", 30),
    ("aten::softmax", "softmax_warp_forward", 45),
    ("nccl:all_reduce", "ncclKernel_AllReduce_RING_LL_Sum_float", 160),
    ("aten::mul", "vectorized_elementwise_kernel", 25),
)
_GEOMETRY = {"registers per thread": 32, "shared memory": 1024, "grid": [80, 1, 1], "block": [128, 1, 1]}


def _on_host(age: Age, what: str, name: str, at: int, dur: int, **args: Any) -> Event:
    return _event(age, what, name, at, dur, HOST, HOST, args)


def _on_gpu(age: Age, what: str, name: str, at: int, dur: int, stream: int, correlation: int, **args: Any) -> Event:
    thread = stream if age.stream == "{}" else age.stream.format(stream)
    args = {"device": GPU, "context": 1, "stream": stream, "correlation": correlation, **args}
    return _event(age, what, name, at, dur, GPU, thread, args)


def _event(age: Age, what: str, name: str, at: int, dur: int, process: int, thread: Any, args: Event) -> Event:
    return {
        "ph": "X", "cat": age.categories[what], "name": name, "pid": process, "tid": thread, "ts": age.time(at),
        "dur": age.written(dur), "args": args,
    }  # fmt: skip
