"""What a branch costs whose paths the lanes of one warp do not all take: the paths run one after the other.

Source: NVIDIA, CUDA C++ Programming Guide, "SIMT Architecture".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import FieldError
from ..hardware.capability import ComputeCapability, capability
from ..units import format_percent
from .amounts import all_not_negative, count_or_none

_USUAL = "9.0"  # any of NVIDIA's: all their warps have 32 lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One warp. `useful_lane_cycles` are those of lanes on their path, of `lane_cycles` that all lanes take.

    `regrouped_cycles` is the mean of a warp where every warp has lanes of one path alone, as many of each path as
    before; `speedup` is what that gains.
    """

    paths: tuple[float, ...]
    lanes: tuple[int, ...]
    warp_size: int
    cycles: float
    useful_lane_cycles: float
    lane_cycles: float
    efficiency: float
    regrouped_cycles: float
    speedup: float
    why: tuple[str, ...]
    advice: tuple[str, ...]


def divergence(paths: Sequence[float], lanes: Sequence[float], sm: ComputeCapability | None = None) -> Divergence:
    """Paths of these cycles, each taken by that many lanes of a warp; a path that no lane takes is skipped.

    Raises:
        FieldError: the lists differ in length, hold what they should not, or have more lanes than a warp.
    """
    warp_size = (sm or capability(_USUAL)).warp_size
    taken = _lanes(paths, lanes, warp_size)
    cycles = sum(path for path, count in zip(paths, taken, strict=True) if count)
    if not cycles:
        raise FieldError("paths: none that a lane takes has any cycles; right would be --paths 100,10 --lanes 16,16")
    useful = float(sum(path * count for path, count in zip(paths, taken, strict=True)))
    found = Divergence(
        paths=tuple(paths),
        lanes=taken,
        warp_size=warp_size,
        cycles=cycles,
        useful_lane_cycles=useful,
        lane_cycles=cycles * warp_size,
        efficiency=useful / (cycles * warp_size),
        regrouped_cycles=useful / warp_size,
        speedup=cycles * warp_size / useful,
        why=(),
        advice=(),
    )
    return replace(found, why=tuple(_why(found)), advice=tuple(_advice(found)))


def _lanes(paths: Sequence[float], lanes: Sequence[float], warp_size: int) -> tuple[int, ...]:
    all_not_negative("paths", paths)
    all_not_negative("lanes", lanes)
    if len(paths) != len(lanes):
        raise FieldError(f"lanes has {len(lanes)} values, but paths has {len(paths)}")
    taken = tuple(count_or_none(f"lanes[{at}]", count) for at, count in enumerate(lanes))
    if not 1 <= sum(taken) <= warp_size:
        raise FieldError(f"lanes must be from 1 to {warp_size} in all, those of a warp, got {sum(taken)}")
    return taken


def _why(found: Divergence) -> Iterator[str]:
    taken = [path for path, count in zip(found.paths, found.lanes, strict=True) if count]
    total = " + ".join(f"{path:g}" for path in taken)
    yield f"a warp runs every path that one of its lanes takes, one after the other: {total} = {found.cycles:g} cycles"
    yield (
        f"{found.useful_lane_cycles:g} of {found.lane_cycles:g} lane cycles are of lanes on their path: "
        f"{format_percent(found.efficiency)}"
    )
    if len(taken) > 1:
        yield "independent thread scheduling (from 7.0 on) may interleave the paths; the cycles stay"


def _advice(found: Divergence) -> Iterator[str]:
    if found.speedup == 1:
        yield "nothing to gain: all lanes take one path"
        return
    size = found.warp_size
    yield (
        f"let whole warps take one path, as (threadIdx.x / {size}) % 2 does where threadIdx.x % 2 does not: "
        f"{found.regrouped_cycles:g} cycles a warp on average, {found.speedup:.3g} times the throughput"
    )
    yield "sort or compact the work by path, or give each path a kernel of its own, where data decide the branch"
    yield "paths of a few instructions that differ little: select a value (predication) in place of a branch"
    yield "warp-level primitives (__ballot_sync, __shfl_sync) hand the work of idle lanes to others"
