"""What would move an operator up or along its roof, each worked out again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from ...errors import PerfError
from ...hardware import GPU, DType
from ...kernels.fields import MAX_EXTENT
from ...kernels.gemm_call import Gemm
from ...units import format_quantity, format_time
from ..operators.asked import Work, work
from .point import MEMORY, Point, name_of, point


def advised(works: Sequence[Work], points: Sequence[Point], gpu: GPU) -> tuple[str, ...]:
    """Sentences for each operator, the smallest change first."""
    found = []
    for place, one in enumerate(works):
        prefix = "" if len(works) == 1 else f"{name_of(points, place)}: "
        found += [f"{prefix}{said}" for said in _of_point(one, points[place], gpu)]
    return tuple(found)


def _of_point(one: Work, at: Point, gpu: GPU) -> Iterator[str]:
    if at.limiter == "launch" and at.launch_s:
        together = ceil(at.launch_s / at.time_s) if at.time_s else 1
        yield (f"put {together} or more such calls into one launch (batch them, or a CUDA graph): then the roof "
               "counts, and not the launch")  # fmt: skip
    elif at.bound == MEMORY:
        yield from _larger(one, gpu)
        yield from _narrower(one, at, gpu)
        yield _fused(at)
    else:
        yield from _faster_math(one, at, gpu)
        yield from _algorithm(one)


def _fused(at: Point) -> str:
    if not at.flop:
        return "fuse it into its neighbours: it computes nothing"
    times = at.ridge_flop_per_byte / at.intensity_flop_per_byte
    return f"fuse it with its neighbours, or reuse what was read: {times:.3g} times the FLOP per byte reach the ridge"


def _again(one: Work, gpu: GPU, **changes: Any) -> Point | None:
    """The call with other fields; None where there is no such call, or the GPU cannot do it."""
    if one.call is None:
        return None
    try:
        call: Any = one.call
        return point(work(replace(call, **changes), gpu), gpu)
    except PerfError:
        return None


def _larger(one: Work, gpu: GPU) -> Iterator[str]:
    """The least extent of a product that brings it to the ridge, all others kept."""
    if not isinstance(one.call, Gemm):
        return
    extents = {name: getattr(one.call, name) for name in ("m", "n", "k")}
    name = min(extents, key=lambda key: extents[key])
    low, high = extents[name], extents[name]
    while high < MAX_EXTENT and _is_below(one, gpu, name, high):
        high = min(2 * high, MAX_EXTENT)
    if _is_below(one, gpu, name, high):
        return
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_below(one, gpu, name, middle) else (low, middle)
    yield f"a larger {name}: {high:,} in the place of {extents[name]:,} reaches the ridge, where a FLOP takes least"


def _is_below(one: Work, gpu: GPU, name: str, value: int) -> bool:
    changed = _again(one, gpu, **{name: value})
    return changed is None or changed.bound == MEMORY


def _narrower(one: Work, at: Point, gpu: GPU) -> Iterator[str]:
    """The widest format that is narrower than the call's, and makes it faster."""
    own = getattr(one.call, "dtype", None)
    if own is None:
        return
    for dtype in sorted((d for d in DType if not d.is_mixed and d.bytes < own.bytes), key=lambda d: -d.bytes):
        new = _again(one, gpu, dtype=dtype, **({"out_dtype": None} if isinstance(one.call, Gemm) else {}))
        if new is not None and new.time_s < at.time_s:
            yield (f"{dtype} in the place of {own}: {format_quantity(new.bytes, 'B')} for "
                   f"{format_quantity(at.bytes, 'B')}, {format_time(new.time_s)} for "
                   f"{format_time(at.time_s)}")  # fmt: skip
            return


def _faster_math(one: Work, at: Point, gpu: GPU) -> Iterator[str]:
    """The widest format whose peak is higher: tensor cores, or fewer bits."""
    own = DType(at.dtype)
    faster = [d for d in gpu.dtypes() if gpu.peak_flop_per_s(d) > at.peak_flop_per_s and d.bytes <= own.bytes]
    if not faster:
        yield "no format of this GPU is faster: a better algorithm, or more GPUs"
        return
    dtype = faster[0]
    time_s = max(one.flop / gpu.peak_flop_per_s(dtype), one.bytes / gpu.dram_bytes_per_s)
    new = _again(one, gpu, dtype=dtype, **({"out_dtype": None} if isinstance(one.call, Gemm) else {}))
    pipe = "tensor cores" if gpu.math_pipe(dtype) == "tensor" else "FMA"
    yield (f"{dtype} on {pipe}: {format_quantity(gpu.peak_flop_per_s(dtype), 'FLOP/s')}, "
           f"{format_time(time_s if new is None else new.time_s)} for {format_time(at.time_s)}")  # fmt: skip


def _algorithm(one: Work) -> Iterator[str]:
    if one.least_flop < one.flop:
        yield (f"another algorithm: {format_quantity(one.least_flop, 'FLOP')} are the least that is known, "
               f"{one.flop / one.least_flop:.3g} times fewer")  # fmt: skip
