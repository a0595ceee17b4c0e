"""How many CTAs of a kernel one SM holds, what stops it from holding more, and what would change that.

The algorithm is that of `scheduling/occupancy.py`. It is the theoretical occupancy: what resources allow. That which a
profiler counts is lower where CTAs end at different times, are too few, or are still being launched.

Source: NVIDIA, `cuda_occupancy.h` of the CUDA toolkit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import GPU
from ..hardware.capability import ComputeCapability
from ..scheduling.occupancy import (
    Occupancy,
    registers_checked,
    registers_of_warp,
    resident,
    shared_of_cta,
    warps_of,
)
from . import sm as described
from .amounts import count, count_or_none
from .occupancy_advice import advised, largest
from .occupancy_sweep import Step, sweep_of
from .occupancy_why import explained
from .sm import CUSTOM, Cta


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """CTAs that are launched together, onto SMs of one GPC.

    `most_active` is how many clusters the GPU holds at once if no SM of a GPC is left over; None without a GPU.
    """

    size: int
    portable: bool
    most_active: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """What an SM holds. `limits` are the CTAs that each resource alone would allow, `limiters` all that stop it first.

    `taken` is what one CTA is handed out, `available` what there is; `largest` is each of threads, registers and shared
    memory that still launches beside the others. `exact` is what comes with units and reserve, in the textbook's mode.
    """

    sm: str
    threads: int
    registers: int
    shared_bytes: int
    textbook: bool
    launches: bool
    ctas_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    occupancy: float
    limiters: tuple[str, ...]
    limits: Mapping[str, int]
    taken: Mapping[str, int]
    available: Mapping[str, int]
    largest: Mapping[str, int]
    clusters: Clusters | None
    exact: Occupancy | None
    sweep: str | None
    steps: tuple[Step, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def occupancy(
    device: GPU | ComputeCapability,
    *,
    threads: int,
    registers: int,
    shared_bytes: float = 0,
    carveout_bytes: float | None = None,
    cluster: int | None = None,
    sweep: str | None = None,
    textbook: bool = False,
) -> Residency:
    """Occupancy of CTAs of `threads` threads, `registers` a thread and `shared_bytes`, static and dynamic.

    `sweep` is `threads`, `registers` or `shared_bytes`: every value of it beside the others.

    Raises:
        FieldError: more threads or registers than any CTA may have, or a setting that there is not.
    """
    real = device.sm if isinstance(device, GPU) else device
    whole = described.textbook(real) if textbook else real
    cta = _cta(threads, registers, shared_bytes)
    sm = whole if carveout_bytes is None else described.carved(whole, carveout_bytes)
    found = resident(sm, *cta)
    exact = resident(described.exact(real), *cta) if textbook else None
    return Residency(
        sm=_name(device),
        threads=cta.threads,
        registers=cta.registers,
        shared_bytes=cta.shared_bytes,
        textbook=textbook,
        launches=found.ctas_per_sm > 0,
        ctas_per_sm=found.ctas_per_sm,
        warps_per_sm=found.ctas_per_sm * warps_of(real, cta.threads),
        max_warps_per_sm=real.max_warps_per_sm,
        occupancy=found.occupancy,
        limiters=found.limiters,
        limits=found.limits,
        taken=_taken(sm, cta, found),
        available=_available(sm),
        largest=largest(sm, cta),
        clusters=None if cluster is None else _clusters(device, cluster, found.ctas_per_sm),
        exact=exact,
        sweep=sweep,
        steps=() if sweep is None else sweep_of(sm, cta, sweep),
        why=tuple(explained(sm, cta, found, exact)),
        advice=tuple(advised(sm, whole, cta, found)),
    )


def _cta(threads: int, registers: int, shared_bytes: float) -> Cta:
    """The CTA in whole numbers; how large they may be is the algorithm's to say."""
    return Cta(
        threads=count("threads", threads),
        registers=count_or_none("registers", registers),
        shared_bytes=count_or_none("shared_bytes", shared_bytes),
    )


def _name(device: GPU | ComputeCapability) -> str:
    if isinstance(device, GPU):
        return device.name
    return "these limits" if device.key == CUSTOM else f"compute capability {device.key}"


def _taken(sm: ComputeCapability, cta: Cta, found: Occupancy) -> dict[str, int]:
    """What a CTA is handed out; of registers that do not do for one, what it is checked for."""
    warps, of_warp = warps_of(sm, cta.threads), registers_of_warp(sm, cta.registers)
    return {
        "warps": warps,
        "registers": of_warp * warps
        if found.limits["registers"]
        else registers_checked(sm, cta.threads, cta.registers),
        "registers_per_warp": of_warp,
        "shared": shared_of_cta(sm, cta.shared_bytes),
        "ctas": 1,
    }


def _available(sm: ComputeCapability) -> dict[str, int]:
    return {
        "warps": sm.max_warps_per_sm,
        "registers": sm.registers_per_sm,
        "shared": sm.shared_bytes_per_sm,
        "ctas": sm.max_ctas_per_sm,
    }


def _clusters(device: GPU | ComputeCapability, cluster: int, ctas_per_sm: int) -> Clusters:
    sm = device.sm if isinstance(device, GPU) else device
    size = count("cluster", cluster)
    if sm.max_cluster_ctas == 1 and size > 1:
        raise FieldError(
            f"cluster must be 1 on {_name(device)}, which has no clusters (they come with 9.0), got {size}"
        )
    if size > sm.max_cluster_ctas:
        raise FieldError(f"cluster must be from 1 to {sm.max_cluster_ctas} on {_name(device)}, got {size}")
    slots = device.num_sms * ctas_per_sm if isinstance(device, GPU) else None
    return Clusters(
        size=size,
        portable=size <= sm.portable_cluster_ctas,
        most_active=None if slots is None else slots // size,
    )
