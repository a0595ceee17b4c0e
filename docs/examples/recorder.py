"""A host and a GPU that do as they are told, and write down what PyTorch's profiler would: times are in µs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CALL, DELAY = 4.0, 6.0  # of the host, for a launch; from the begin of a launch to the earliest start on the device
FORMATS = {1: "unsigned char", 2: "c10::BFloat16"}  # by bytes of an element


class Recorder:
    """The clock of the host, when each stream is free, and the events so far."""

    def __init__(self, rank: int = 0) -> None:
        self.rank, self.now, self.correlation = rank, 100.0, 0
        self.free: dict[int, float] = {}
        self.events: list[dict[str, Any]] = []

    def event(self, cat: str, name: str, start: float, dur: float, pid: int, tid: int, **args: Any) -> None:
        """A complete event."""
        times = {"ts": round(start, 3), "dur": round(round(start + dur, 3) - round(start, 3), 3)}
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, **times, "args": args})

    @contextmanager
    def range(self, name: str, cat: str = "cpu_op", before: float = 1.0, **args: Any) -> Iterator[None]:
        """An operator, annotation or frame around what happens in it, after some time of its own."""
        start = self.now
        self.now += before
        yield
        self.now += 1.0
        self.event(cat, name, start, self.now - start, 1000, 1000, **args)

    def call(self, name: str, dur: float = CALL) -> float:
        """A call of the runtime; its begin."""
        start, self.correlation = self.now, self.correlation + 1
        self.now += dur
        self.event("cuda_runtime", name, start, dur, 1000, 1000, correlation=self.correlation)
        return start

    def run(self, name: str, dur: float, call: str = "cudaLaunchKernel", stream: int = 7, **args: Any) -> float:
        """A launch, and the kernel; its end."""
        return self.on_device("kernel", name, dur, self.call(call), stream, **args)

    def on_device(self, cat: str, name: str, dur: float, launched: float, stream: int = 7, **args: Any) -> float:
        """Something that the device does as soon as its stream is free; its end."""
        start = max(launched + DELAY, self.free.get(stream, 0.0))
        self.free[stream] = start + dur
        where = {"device": self.rank, "stream": stream, "correlation": self.correlation}
        self.event(cat, name, start, dur, self.rank, stream, **where, **args)
        return start + dur

    def wait(self, name: str = "cudaStreamSynchronize", stream: int = 7) -> None:
        """The host waits until the stream has nothing to do."""
        self.call(name, max(self.free.get(stream, 0.0) - self.now, 0.0) + 2.0)

    def copy(self, kind: str, size: int, bytes_per_us: float) -> None:
        """A copy between host and device."""
        launched = self.call("cudaMemcpyAsync")
        self.on_device("gpu_memcpy", f"Memcpy {kind}", size / bytes_per_us, launched, bytes=size)

    def memory(self, size: int, address: int, total: int, reserved: int) -> None:
        """A change of what the allocator has handed out."""
        args = {"Bytes": size, "Addr": address, "Device Type": 1, "Device Id": self.rank}
        args |= {"Total Allocated": total, "Total Reserved": reserved}
        place = {"pid": 1000, "tid": 1000, "ts": round(self.now, 3), "s": "t"}
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **place, "args": args})

    def write(self, path: Path, **metadata: Any) -> None:
        """The trace as a file, an event a line."""
        gpu = {"name": "NVIDIA H100 80GB HBM3", "numSms": 132, "warpSize": 32, "computeMajor": 9, "computeMinor": 0}
        head = {"schemaVersion": 1, "deviceProperties": [{"id": self.rank, **gpu}], **metadata}
        lines = ",\n".join(
            json.dumps(one) for one in sorted(self.events, key=lambda one: (one["ts"], -one.get("dur", 0)))
        )
        path.write_text(f'{json.dumps(head)[:-1]}, "traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")


def shapes(*dims: list[int], width: int = 2) -> dict[str, Any]:
    """Shapes and formats of an operator's arguments."""
    return {"Input Dims": list(dims), "Input type": [FORMATS[width] if one else "" for one in dims]}


def geometry(grid: list[int], block: int, registers: int, shared: int = 0) -> dict[str, Any]:
    """A launch as the profiler has it."""
    return {"grid": grid, "block": [block, 1, 1], "registers per thread": registers, "shared memory": shared}
