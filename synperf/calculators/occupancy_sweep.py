"""Occupancy over every value of one thing that a CTA asks for, the others as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import UnknownNameError
from ..hardware.capability import ComputeCapability
from ..scheduling.occupancy import Occupancies, occupancies
from .sm import Cta

_FEW, _MANY = 32, 1024  # values of a sweep where an SM has no unit of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Values from `low` to `high` that hold the same: between two of a sweep they are handed out as the higher."""

    low: int
    high: int
    ctas_per_sm: int
    warps_per_sm: int
    occupancy: float
    limiters: tuple[str, ...]


def values(sm: ComputeCapability, field: str) -> np.ndarray:
    """The values of a field of a CTA, as far apart as they are handed out, and no finer than a screen shows.

    Raises:
        UnknownNameError: not such a field.
    """
    warp = max(sm.warp_size, sm.max_threads_per_cta // _FEW)
    unit = sm.shared_granularity_bytes if sm.warp_size > 1 else max(1, sm.shared_bytes_per_cta // _MANY)
    ranges = {
        "threads": (warp, sm.max_threads_per_cta, warp),
        "registers": (1, sm.max_registers_per_thread, 1),
        "shared_bytes": (0, sm.shared_bytes_per_cta, unit),
    }
    if field not in ranges:
        raise UnknownNameError.among("sweep", field, ranges)
    first, last, step = ranges[field]
    return np.arange(first, last + 1, step)


def over(sm: ComputeCapability, cta: Cta, field: str, at: np.ndarray) -> Occupancies:
    """What an SM holds with these values of one field."""
    return occupancies(sm, **(cta._asdict() | {field: at}))


def sweep_of(sm: ComputeCapability, cta: Cta, field: str) -> tuple[Step, ...]:
    """Every value of a field, those that hold the same together.

    Raises:
        UnknownNameError: no field of a CTA has that name.
    """
    at = values(sm, field)
    return tuple(_steps(at, over(sm, cta, field, at)))


def _steps(at: np.ndarray, found: Occupancies) -> Iterator[Step]:
    limiting = np.stack(list(found.limiters.values()))
    alike = (np.diff(found.ctas_per_sm) == 0) & (np.diff(found.warps_per_sm) == 0)
    alike &= (limiting[:, 1:] == limiting[:, :-1]).all(axis=0)
    starts = np.concatenate(([0], np.flatnonzero(~alike) + 1))
    for first, after in zip(starts, [*starts[1:], len(at)], strict=True):
        yield Step(
            low=int(at[first - 1]) + 1 if first else min(int(at[0]), 1),
            high=int(at[after - 1]),
            ctas_per_sm=int(found.ctas_per_sm[first]),
            warps_per_sm=int(found.warps_per_sm[first]),
            occupancy=float(found.occupancy[first]),
            limiters=tuple(name for name, is_limiter in found.limiters.items() if is_limiter[first]),
        )
