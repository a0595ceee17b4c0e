"""Small traces of our own: events in µs, as torch.profiler writes them since 2024."""

import gzip
import json
from pathlib import Path

from synperf.traces import read_trace

GPU = 0
HOST = {"pid": 100, "tid": 100}


def event(name, start, dur, cat="cpu_op", **more):
    """A complete event; `args` and places may be given."""
    return {"ph": "X", "cat": cat, "name": name, "ts": start, "dur": dur, **HOST, **more}


def kernel(name, start, dur, stream=7, device=GPU, correlation=0, **args):
    """A kernel on a device."""
    args = {"device": device, "stream": stream, "correlation": correlation, **args}
    return event(name, start, dur, "kernel", pid=device, tid=stream, args=args)


def copy(name, start, dur, stream=7, device=GPU, correlation=0, **args):
    """A copy on a device."""
    return kernel(name, start, dur, stream, device, correlation, **args) | {"cat": "gpu_memcpy"}


def call(name, start, dur, correlation=0, **more):
    """A call of the runtime."""
    return event(name, start, dur, "cuda_runtime", args={"correlation": correlation}, **more)


def document(events, **metadata):
    """The text of a trace."""
    return json.dumps({"schemaVersion": 1, **metadata, "traceEvents": events}, indent=1)


def write(folder, events, name="trace.json", **metadata) -> Path:
    """A trace in a file; events are its list, or the whole text."""
    text = events if isinstance(events, str | bytes) else document(events, **metadata)
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read(folder, events, name="trace.json", **metadata):
    """The trace of such a file."""
    return read_trace(write(folder, events, name, **metadata))[0]
