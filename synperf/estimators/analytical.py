"""The estimate without weights: launch floor + the slowest pipe on the busiest SM, at published rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..features import PIPES, Features, features
from ..hardware import GPU
from ..hardware.launch import launch_floor
from ..hardware.makers import maker
from ..kernels import KernelFamily
from ..kernels.dispatch import PLAIN, resolve
from ..numeric import Number, is_array, maximum
from ..version import VERSION
from .estimate import Estimate
from .intervals import interval

ORIGIN = "analytical"
LIMITERS = ("launch", *PIPES)
_NAMES = np.array(LIMITERS)
_BORROWED = ("rates: published ones, no weights answer here; the interval is that of GEMM",)  # of memory-bound families


def estimate(family: KernelFamily, call: Any, gpu: GPU) -> Estimate:
    """Time of one call, or of columns of calls.

    Raises:
        FieldError: the call names an engine or kernel that does not exist.
        UnsupportedError: the GPU lacks the format, the engine lacks a kernel for it, or the tile does not fit.
    """
    engine, kernel = resolve(family.name, call.dtype, gpu.compute_capability, call.engine, call.kernel)
    f = features(family, call, gpu)
    launch_s, assumed = launch_floor(gpu, family.name, kernel, call.dtype, family.launches_like)
    limiter, slowest_s = slowest(f, launch_s)
    time_s = maximum(launch_s + slowest_s, f.floor_s)
    low_s, high_s = interval(launch_s, slowest_s, time_s, f.floor_s)
    return Estimate(
        family=family.name,
        gpu=gpu.key,
        engine=engine,
        kernel=kernel,
        time_s=time_s,
        low_s=low_s,
        high_s=high_s,
        floor_s=f.floor_s,
        efficiency=f.roofline_s / time_s,
        limiter=_NAMES[limiter] if isinstance(limiter, np.ndarray) else LIMITERS[limiter],
        origin=ORIGIN,
        assumptions=gpu.assumptions
        + assumed
        + _engine(gpu, call.engine, engine)
        + family.assumptions(call, gpu)
        + (_BORROWED if family.is_memory_bound else ()),
        versions={"synperf": VERSION, "analytical": "1"},
    )


def _engine(gpu: GPU, given: str | None, engine: str) -> tuple[str, ...]:
    """That no engine stands in for the one that was left open."""
    if given is not None or engine != PLAIN:
        return ()
    name = maker(gpu.maker).name
    return (f"engine: no engine's kernels are known on {name}'s GPUs, so {PLAIN} describes the kernel of least cost",)


def slowest(f: Features, launch_s: float) -> tuple[int | np.ndarray, Number]:
    """What limits the call, as an index into `LIMITERS`, and the time of the slowest pipe.

    A pipe keeps the call for its time on the busiest SM and for what adds to it. DRAM time hides the launch of the
    reduction and the fill of pipelines, and has the bytes of a pass before.
    The launch limits where its floor outlasts every pipe.
    """
    busy, serial_s = f.busiest_s, f.serial_s
    if type(serial_s) is float and serial_s == 0.0:
        times = [*busy.values()]
    else:
        times = [busy_s if name == "dram" else busy_s + serial_s for name, busy_s in busy.items()]
    if is_array(f.roofline_s):
        columns = np.stack(np.broadcast_arrays(*times))
        slowest_s = columns.max(axis=0)
        return np.where(launch_s > slowest_s, 0, columns.argmax(axis=0) + 1), slowest_s
    slowest_s = max(times)
    return (0 if launch_s > slowest_s else times.index(slowest_s) + 1), slowest_s
