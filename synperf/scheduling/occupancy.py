"""How many CTAs one SM holds at once, and which resource stops it.

Source: NVIDIA, `cuda_occupancy.h` of the CUDA toolkit; limits per compute capability from the CUDA C++ Programming
Guide, "Technical Specifications per Compute Capability"; AMD's CUs hand out registers and LDS in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import GPU
from ..hardware.capability import capability

SUB_PARTITIONS = 4  # an SM's register file and warp slots are split over four schedulers


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """Resident CTAs of one SM. `limiters` are all resources whose limit equals `ctas_per_sm`."""

    ctas_per_sm: int
    warps_per_sm: int
    occupancy: float  # resident warps / the most that the SM takes
    limiters: tuple[str, ...]
    limits: Mapping[str, int]  # CTAs that each resource alone would allow


def occupancy(gpu: GPU, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Occupancy of CTAs of `threads` threads, `registers` per thread and `shared_bytes` (static and dynamic).

    A CTA that cannot launch at all has `ctas_per_sm` 0.

    Raises:
        FieldError: more threads, registers or shared memory than any CTA may have.
    """
    _check("threads", threads, 1, gpu.max_threads_per_cta)
    _check("registers", registers, 0, gpu.max_registers_per_thread)
    _check("shared_bytes", shared_bytes, 0, gpu.shared_bytes_per_cta)
    warps = -(-threads // gpu.warp_size)
    limits = {
        "warps": gpu.max_warps_per_sm // warps,
        "registers": _register_limit(gpu, warps, registers),
        "shared": _shared_limit(gpu, shared_bytes),
        "ctas": gpu.max_ctas_per_sm,
    }
    ctas = min(limits.values())
    return Occupancy(
        ctas_per_sm=ctas,
        warps_per_sm=ctas * warps,
        occupancy=ctas * warps / gpu.max_warps_per_sm,
        limiters=tuple(
            name for name, limit in limits.items() if limit == ctas and (name in _used(registers, shared_bytes, gpu))
        ),
        limits=limits,
    )


def _used(registers: int, shared_bytes: int, gpu: GPU) -> set[str]:
    """Resources that the CTA takes at all: one that it does not take cannot be what limits it."""
    takes = {"warps", "ctas"}
    if registers:
        takes.add("registers")
    if shared_bytes or gpu.reserved_shared_bytes_per_cta:
        takes.add("shared")
    return takes


def _register_limit(gpu: GPU, warps: int, registers: int) -> int:
    if registers == 0:
        return gpu.max_ctas_per_sm
    per_warp = _up(registers * gpu.warp_size, capability(gpu.compute_capability).register_unit_per_warp)
    if per_warp * _up(warps, SUB_PARTITIONS) > gpu.registers_per_sm:
        return 0
    return gpu.registers_per_sm // SUB_PARTITIONS // per_warp * SUB_PARTITIONS // warps


def _shared_limit(gpu: GPU, shared_bytes: int) -> int:
    taken = _up(shared_bytes + gpu.reserved_shared_bytes_per_cta, gpu.shared_granularity_bytes)
    return gpu.shared_bytes_per_sm // taken if taken else gpu.max_ctas_per_sm


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise FieldError(f"{name} must be from {least} to {most} per CTA on this GPU, got {value}")
