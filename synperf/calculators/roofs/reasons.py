"""Why operators stand where they do under the roofs, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...hardware import GPU, DType
from ...units import format_percent, format_quantity, format_time
from .point import BALANCED, COMPUTE, Point, name_of

_LEVELS = {"dram": "DRAM", "l2": "L2", "shared": "shared memory"}


def reasons(points: Sequence[Point], gpu: GPU) -> tuple[str, ...]:
    """Sentences with the numbers in them: of each operator, then of pairs that do the same."""
    said = [sentence for at, one in enumerate(points) for sentence in _of_point(one, name_of(points, at), gpu)]
    return (*said, *_gains(points))


def _of_point(p: Point, name: str, gpu: GPU) -> Iterator[str]:
    sides = {COMPUTE: "more than", BALANCED: "as many as"}
    intensity, ridge = f"{p.intensity_flop_per_byte:.4g}", f"{p.ridge_flop_per_byte:.4g}"
    bound = "balanced" if p.bound == BALANCED else f"{p.bound}-bound"
    yield (f"{name}: {format_quantity(p.flop, 'FLOP')} over {format_quantity(p.bytes, 'B')} are {intensity} FLOP per "
           f"byte, {sides.get(p.bound, 'fewer than')} the {ridge} of {gpu.name} in {p.dtype}: {bound}")  # fmt: skip
    yield (f"{format_time(p.compute_s)} of math at {format_quantity(p.peak_flop_per_s, 'FLOP/s')}, "
           f"{format_time(p.memory_s)} of DRAM at {format_quantity(gpu.dram_bytes_per_s, 'B/s')}")  # fmt: skip
    yield from _beyond(p)
    yield from _achieved(p, gpu)


def _beyond(p: Point) -> Iterator[str]:
    """What takes longer than the two sides of the roofline."""
    if p.limiter == "launch" and p.launch_s is not None:
        many = f", {p.launch_s / p.time_s:.3g} times that" if p.time_s else ""
        yield (f"a launch takes {format_time(p.launch_s)}{many}: neither faster math nor faster memory would show, "
               "the call is bound by launch and host")  # fmt: skip
    elif p.limiter in ("l2", "shared"):
        level = p.levels[p.limiter]
        yield (f"its kernel's tiles take {format_time(level.time_s or 0.0)} of {_LEVELS[p.limiter]}, longer than "
               f"both: {level.intensity_flop_per_byte:.4g} FLOP per byte there, the ridge is "
               f"{level.ridge_flop_per_byte:.4g}")  # fmt: skip


def _achieved(p: Point, gpu: GPU) -> Iterator[str]:
    got = p.achieved
    if got is None:
        return
    share = format_percent(got.of_peak, 4)
    rate, peak = (format_quantity(value, "FLOP/s") for value in (got.flop_per_s, p.peak_flop_per_s))
    said = f"{rate} are {share} of the peak of {peak} at the rated clock"
    clock, most = (format_quantity(hz, "Hz", 4) for hz in (got.clock_hz, gpu.max_clock_hz))
    if got.of_peak <= 1:
        yield f"{said}, and {format_percent(got.of_roof)} of the roof at this intensity"
    elif got.possible:
        yield f"{said}: at the roof, which takes a clock of {clock} or more; the GPU reaches {most}"
    else:
        yield f"{said}: not in this format, it would take a clock of {clock} and the GPU reaches {most}"
    note = gpu.notes.get("tensor_flop_per_s")
    if note and gpu.math_pipe(DType(p.dtype)) == "tensor":
        yield f"the peak of {gpu.name} is {note}"


def _gains(points: Sequence[Point]) -> Iterator[str]:
    """How much faster an operator is than the one before, which does as many FLOP."""
    for at, (one, other) in enumerate(pairwise(points)):
        if one.flop != other.flop:
            continue
        gain, roof = one.with_launch_s / other.with_launch_s, one.time_s / other.time_s
        yield (f"{name_of(points, at + 1)} gains {gain:.3g} times over {name_of(points, at)} with launches, "
               f"{format_time(other.with_launch_s)} for {format_time(one.with_launch_s)}; "
               f"{roof:.3g} times without")  # fmt: skip
