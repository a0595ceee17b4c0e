"""Whether a grid of CTAs may be launched, what to change if it may not, and how it fills the GPU.

Source: NVIDIA, CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from ..errors import FieldError
from ..hardware import GPU
from ..hardware.capability import ComputeCapability, capability
from .amounts import count

AXES = "xyz"
_USUAL = "9.0"  # any of NVIDIA's: all have the same limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """CTAs along x, y and z. `over` are the axes that have too many, `instead` a grid of as many CTAs that is allowed.

    With a GPU and the CTAs that an SM holds at once, `waves` is how often the grid fills it, `last_wave` how full the
    last one is, and `slots_used` how much of all waves.
    """

    grid: tuple[int, int, int]
    valid: bool
    ctas: int
    over: tuple[str, ...]
    instead: tuple[int, int, int] | None
    waves: float | None
    last_wave: float | None
    slots_used: float | None
    why: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grids:
    """Some grids, with the most CTAs along each axis."""

    limits: tuple[int, int, int]
    grids: tuple[Grid, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def grid(
    device: GPU | ComputeCapability | None, grids: Sequence[Sequence[float]], *, ctas_per_sm: int | None = None
) -> Grids:
    """Each grid of one to three axes; those that are left out are 1. No device is any of NVIDIA's.

    Raises:
        FieldError: no grid, more than three axes, or not whole numbers from 1 on; `ctas_per_sm` without a GPU.
    """
    sm = device.sm if isinstance(device, GPU) else device or capability(_USUAL)
    if not grids:
        raise FieldError("grid: none given; right would be 1,65535,1")
    if ctas_per_sm is not None and not isinstance(device, GPU):
        raise FieldError("ctas_per_sm: no GPU to fill; right would be --gpu NAME")
    held = None if ctas_per_sm is None else count("ctas_per_sm", ctas_per_sm, sm.max_ctas_per_sm)
    slots = device.num_sms * held if held is not None and isinstance(device, GPU) else None
    found = tuple(_grid(_whole(at, one), sm.max_grid_ctas, slots) for at, one in enumerate(grids))
    return Grids(
        limits=sm.max_grid_ctas,
        grids=found,
        why=tuple(one.why for one in found),
        advice=tuple(one.advice for one in found if one.advice) or ("nothing to change: every grid may be launched",),
    )


def _whole(at: int, axes: Sequence[float]) -> tuple[int, int, int]:
    if not 1 <= len(axes) <= len(AXES):
        raise FieldError(f"grid[{at}] must have from 1 to 3 axes, got {len(axes)}")
    x, y, z = (*(count(f"grid[{at}].{axis}", size) for axis, size in zip(AXES, axes, strict=False)), 1, 1)[:3]
    return x, y, z


def _grid(axes: tuple[int, int, int], limits: tuple[int, int, int], slots: int | None) -> Grid:
    over = tuple(axis for axis, size, most in zip(AXES, axes, limits, strict=True) if size > most)
    instead = _instead(axes, limits) if over else None
    ctas = prod(axes)
    waves = None if slots is None or over else ctas / slots
    return Grid(
        grid=axes,
        valid=not over,
        ctas=ctas,
        over=over,
        instead=instead,
        waves=waves,
        last_wave=None if waves is None else waves - ceil(waves) + 1,
        slots_used=None if waves is None else waves / ceil(waves),
        why=_why(axes, limits, over),
        advice=_advice(axes, over, instead, limits),
    )


def _instead(axes: tuple[int, int, int], limits: tuple[int, int, int]) -> tuple[int, int, int] | None:
    """As many CTAs with the longest axis along x, where that is enough."""
    longest, middle, least = sorted(axes, reverse=True)
    other = (longest, middle, least)
    return other if all(size <= most for size, most in zip(other, limits, strict=True)) else None


def shown(axes: Sequence[int]) -> str:
    """`(1, 65536, 1)`."""
    return f"({', '.join(map(str, axes))})"


def _why(axes: tuple[int, int, int], limits: tuple[int, int, int], over: tuple[str, ...]) -> str:
    if not over:
        return f"grid {shown(axes)}: valid, {prod(axes):,} CTAs"
    parts = (
        f"{axis} is {size:,}, its limit {most:,}"
        for axis, size, most in zip(AXES, axes, limits, strict=True)
        if axis in over
    )
    return f"grid {shown(axes)}: INVALID, cannot launch: {' and '.join(parts)}"


def _advice(
    axes: tuple[int, int, int],
    over: tuple[str, ...],
    instead: tuple[int, int, int] | None,
    limits: tuple[int, int, int],
) -> str:
    if not over:
        return ""
    if instead is not None:
        return (
            f"grid {shown(axes)}: put the long dimension along x, whose limit is {limits[0]:,}: {shown(instead)}; "
            f"or loop in the kernel over what is beyond {limits[1]:,}"
        )
    return f"grid {shown(axes)}: launch fewer CTAs and loop in the kernel (a grid-stride loop)"
