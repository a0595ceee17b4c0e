"""How many CTAs one SM holds at once, and which resource stops it.

Source: NVIDIA, `cuda_occupancy.h` of the CUDA toolkit; limits per compute capability from the CUDA C++ Programming
Guide, "Technical Specifications per Compute Capability"; AMD's CUs hand out registers and LDS in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..errors import FieldError
from ..hardware import GPU
from ..hardware.capability import ComputeCapability
from ..light_classes import dataclass
from ..numeric import Number, is_array, maximum, where

NAMES = ("threads", "registers", "shared_bytes")  # of a CTA, of a thread of it, of a CTA
_CHECKED_PARTITIONS = 4  # a launch is checked as if every SM had four sub-partitions; those of 6.0 have two
_MOST = (
    2**30
)  # bytes and the like of a column: more than any CTA has, and sums stay within 32 bits, which divide faster


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """Resident CTAs of one SM. `limiters` are all resources whose limit equals `ctas_per_sm`."""

    ctas_per_sm: int
    warps_per_sm: int
    occupancy: float  # resident warps / the most that the SM takes
    limiters: tuple[str, ...]
    limits: Mapping[str, int]  # CTAs that each resource alone would allow


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancies:
    """`Occupancy` of many launches: arrays of one length, and for each resource whether it is a limiter."""

    ctas_per_sm: np.ndarray
    warps_per_sm: np.ndarray
    occupancy: np.ndarray
    limiters: Mapping[str, np.ndarray]
    limits: Mapping[str, np.ndarray]


@lru_cache(maxsize=4096)
def occupancy(
    gpu: GPU, threads: int, registers: int, shared_bytes: int, names: tuple[str, str, str] = NAMES
) -> Occupancy:
    """Occupancy of CTAs of `threads` threads, `registers` per thread and `shared_bytes` (static and dynamic).

    A CTA that cannot launch at all has `ctas_per_sm` 0. `names` are what the caller calls the three.

    Raises:
        FieldError: more threads, registers or shared memory than any CTA may have.
    """
    _check(names[2], shared_bytes, 0, gpu.shared_bytes_per_cta)
    return resident(gpu.sm, threads, registers, shared_bytes, names)


def resident(
    sm: ComputeCapability, threads: int, registers: int, shared_bytes: int, names: tuple[str, str, str] = NAMES
) -> Occupancy:
    """As `occupancy`, of an SM of any description; more shared memory than a CTA may have is one that cannot launch.

    Raises:
        FieldError: more threads or registers than any CTA may have.
    """
    _check(names[0], threads, 1, sm.max_threads_per_cta)
    _check(names[1], registers, 0, sm.max_registers_per_thread)
    _check(names[2], shared_bytes, 0)
    limits: dict[str, int] = _limits(sm, threads, registers, shared_bytes)
    ctas, warps = min(limits.values()), warps_of(sm, threads)
    taken = _taken(sm, registers, shared_bytes)
    return Occupancy(
        ctas_per_sm=ctas,
        warps_per_sm=ctas * warps,
        occupancy=ctas * warps / sm.max_warps_per_sm,
        limiters=tuple(name for name, limit in limits.items() if limit == ctas and taken[name]),
        limits=limits,
    )


def occupancies(sm: ComputeCapability, threads: Number, registers: Number, shared_bytes: Number) -> Occupancies:
    """`resident` of many launches: whole numbers, or arrays of them of one length.

    Raises:
        FieldError: as `resident`, naming the first place; arrays of other lengths.
    """
    given = dict(zip(NAMES, (threads, registers, shared_bytes), strict=True))
    columns = _columns({name: np.atleast_1d(np.asarray(value)) for name, value in given.items()})
    _check_column(NAMES[0], columns[0], 1, sm.max_threads_per_cta)
    _check_column(NAMES[1], columns[1], 0, sm.max_registers_per_thread)
    _check_column(NAMES[2], columns[2], 0)
    limits = _limits(sm, *columns)
    ctas = np.minimum.reduce(list(limits.values()))
    warps = ctas * warps_of(sm, columns[0])
    taken = _taken(sm, columns[1], columns[2])
    return Occupancies(
        ctas_per_sm=ctas,
        warps_per_sm=warps,
        occupancy=warps / sm.max_warps_per_sm,
        limiters={name: (limit == ctas) & taken[name] for name, limit in limits.items()},
        limits=limits,
    )


def warps_of(sm: ComputeCapability, threads: Number) -> Number:
    """Warps of a CTA; a part of one takes a whole one."""
    return (threads + (sm.warp_size - 1)) // sm.warp_size


def registers_of_warp(sm: ComputeCapability, registers: Number) -> Number:
    """Registers that a warp is handed out where each of its threads has `registers`."""
    return _up(registers * sm.warp_size, sm.register_unit_per_warp)


def registers_checked(sm: ComputeCapability, threads: Number, registers: Number) -> Number:
    """Registers that a CTA has to find free to be launched: its warps are counted as if it filled every partition."""
    unit = max(sm.warp_unit, _CHECKED_PARTITIONS) if sm.warp_unit > 1 else 1  # 1: an SM without partitions
    return registers_of_warp(sm, registers) * _up(warps_of(sm, threads), unit)


def shared_of_cta(sm: ComputeCapability, shared_bytes: Number) -> Number:
    """Shared memory that a CTA is handed out, with what the system takes."""
    return _up(shared_bytes + sm.reserved_shared_bytes_per_cta, sm.shared_granularity_bytes)


def _limits(sm: ComputeCapability, threads: Number, registers: Number, shared_bytes: Number) -> dict[str, Number]:
    warps = warps_of(sm, threads)
    return {
        "warps": sm.max_warps_per_sm // warps,
        "registers": _register_limit(sm, threads, registers),
        "shared": _shared_limit(sm, shared_bytes),
        "ctas": 0 * warps + sm.max_ctas_per_sm,
    }


def _register_limit(sm: ComputeCapability, threads: Number, registers: Number) -> Number:
    """Every partition hands out registers to whole warps."""
    of_warp = maximum(registers_of_warp(sm, registers), 1)
    held = sm.registers_per_sm // sm.warp_unit // of_warp * sm.warp_unit // warps_of(sm, threads)
    launches = registers_checked(sm, threads, registers) <= sm.registers_per_sm
    return where(registers == 0, sm.max_ctas_per_sm, where(launches, held, 0))


def _shared_limit(sm: ComputeCapability, shared_bytes: Number) -> Number:
    taken = shared_of_cta(sm, shared_bytes)
    held = where(taken == 0, sm.max_ctas_per_sm, _setting(sm, taken) // maximum(taken, 1))
    return where(shared_bytes > sm.shared_bytes_per_cta, 0, held)


def _setting(sm: ComputeCapability, taken: Number) -> Number:
    """Shared memory that the SM is set to: what is asked for, or the least setting in which one CTA fits."""
    if sm.shared_bytes_per_sm >= sm.carveouts_bytes[-1]:
        return sm.shared_bytes_per_sm
    settings = np.asarray(sm.carveouts_bytes)
    fits = np.minimum(np.searchsorted(settings, taken), len(settings) - 1)
    found = np.maximum(settings[fits], sm.shared_bytes_per_sm)
    return found if is_array(taken) else int(found)


def _taken(sm: ComputeCapability, registers: Number, shared_bytes: Number) -> dict[str, Number]:
    """Whether the CTA takes of a resource at all: one that it does not take cannot be what limits it."""
    return {
        "warps": True,
        "registers": registers > 0,
        "shared": shared_bytes + sm.reserved_shared_bytes_per_cta > 0,
        "ctas": True,
    }


def _up(value: Number, unit: int) -> Number:
    return (value + (unit - 1)) // unit * unit


def _check(name: str, value: int, least: int, most: int | None = None) -> None:
    if value < least or (most is not None and value > most):
        up_to = "or more" if most is None else f"to {most}"
        raise FieldError(f"{name} must be from {least} {up_to} on this GPU, got {value}")


def _check_column(name: str, values: np.ndarray, least: int, most: int | None = None) -> None:
    bad = (values < least) | (values > (values if most is None else most))
    if bad.any():
        at = int(np.argmax(bad))
        up_to = "or more" if most is None else f"to {most}"
        raise FieldError(f"{name} must be from {least} {up_to}, got {values[at]} at index {at}")


def _columns(given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The columns as whole numbers of one length.

    Raises:
        FieldError: one has other numbers, or another length.
    """
    first, length = "", 1
    for name, column in given.items():
        if column.dtype.kind not in "iu" or column.ndim != 1:
            raise FieldError(f"{name} must be whole numbers in one dimension, got {column.dtype} of {column.shape}")
        if len(column) != 1 and length not in (1, len(column)):
            raise FieldError(f"{name} has {len(column)} values, but {first} has {length}")
        if len(column) != 1:
            first, length = name, len(column)
    short = (np.minimum(column, _MOST).astype(np.int32) for column in np.broadcast_arrays(*given.values()))
    return list(short)
