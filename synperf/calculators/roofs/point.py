"""Where one operator stands under the roofs of a GPU: those of its math pipe, DRAM, L2 and shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from ...hardware import GPU
from ...hardware.rates import rates
from ..operators.asked import Work

MEMORY, COMPUTE, BALANCED = "memory", "compute", "balanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One memory: its traffic where a kernel is known, FLOP per byte of it, the ridge, and the time of the traffic."""

    bytes_per_s: float
    ridge_flop_per_byte: float
    bytes: float | None
    intensity_flop_per_byte: float | None
    time_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One operator. `bound` is the side of the DRAM ridge: `memory`, `compute`, or `balanced` at the ridge.

    `time_s` is the longer of `compute_s` and `memory_s`; `with_launch_s` adds the launch floor of its kernel. `limiter`
    is what takes longest: compute, dram, l2, shared or launch. `attainable_flop_per_s` is the roof at its intensity.
    """

    name: str
    dtype: str
    flop: float
    bytes: float
    intensity_flop_per_byte: float
    ridge_flop_per_byte: float
    bound: str
    time_s: float
    compute_s: float
    memory_s: float
    peak_flop_per_s: float
    attainable_flop_per_s: float
    levels: Mapping[str, Level]
    launch_s: float | None
    with_launch_s: float
    limiter: str
    achieved: Achieved | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """A rate that was measured: shares of the peak and of the roof at the operator's intensity, at the published clock.

    `clock_hz` is the clock at which the rate would be the peak. It is `possible` where the GPU reaches that clock.
    """

    flop_per_s: float
    of_peak: float
    of_roof: float
    clock_hz: float
    possible: bool


def point(work: Work, gpu: GPU) -> Point:
    """Where a work stands.

    Raises:
        UnsupportedError: the GPU does not multiply its format.
    """
    known = rates(gpu, work.math)
    peak, intensity, ridge = known.peak_flop_per_s, work.flop / work.bytes, known.ridge_flop_per_byte
    compute_s, memory_s = work.flop / peak, work.bytes / gpu.dram_bytes_per_s
    levels = {
        "dram": _level(work, work.bytes, gpu.dram_bytes_per_s, peak),
        "l2": _level(work, work.l2_bytes, gpu.l2_bytes_per_s, peak),
        "shared": _level(work, work.shared_bytes, known.shared_bytes_per_s * gpu.num_sms, peak),
    }
    times = {"compute": compute_s} | {name: level.time_s or 0.0 for name, level in levels.items()}
    time_s, launch_s = max(compute_s, memory_s), work.launch_s
    return Point(
        name=work.name,
        dtype=str(work.math),
        flop=work.flop,
        bytes=work.bytes,
        intensity_flop_per_byte=intensity,
        ridge_flop_per_byte=ridge,
        bound=bound(intensity, ridge),
        time_s=time_s,
        compute_s=compute_s,
        memory_s=memory_s,
        peak_flop_per_s=peak,
        attainable_flop_per_s=min(peak, intensity * gpu.dram_bytes_per_s),
        levels=levels,
        launch_s=launch_s,
        with_launch_s=time_s + (launch_s or 0.0),
        limiter=_longest(times | {"launch": launch_s or 0.0}),
    )


def name_of(points: Sequence[Point], at: int) -> str:
    """What tells a point from the others."""
    return points[at].name if len(points) == 1 else f"{points[at].name} {points[at].dtype} ({at + 1})"


def bound(intensity: float, ridge: float) -> str:
    """The side of the ridge that an intensity is on."""
    if isclose(intensity, ridge, rel_tol=1e-9):
        return BALANCED
    return COMPUTE if intensity > ridge else MEMORY


def achieved(of: Point, flop_per_s: float, gpu: GPU) -> Achieved:
    """A measured rate beside the roofs of its operator."""
    clock_hz = flop_per_s / of.peak_flop_per_s * gpu.clock_hz
    return Achieved(
        flop_per_s=flop_per_s,
        of_peak=flop_per_s / of.peak_flop_per_s,
        of_roof=flop_per_s / of.attainable_flop_per_s if of.attainable_flop_per_s else 0.0,
        clock_hz=clock_hz,
        possible=clock_hz <= gpu.max_clock_hz,
    )


def _level(work: Work, moved: float | None, bytes_per_s: float, peak: float) -> Level:
    return Level(
        bytes_per_s=bytes_per_s,
        ridge_flop_per_byte=peak / bytes_per_s,
        bytes=moved,
        intensity_flop_per_byte=work.flop / moved if moved else None,
        time_s=None if moved is None else moved / bytes_per_s,
    )


def _longest(times: Mapping[str, float]) -> str:
    return max(times, key=lambda name: times[name])
