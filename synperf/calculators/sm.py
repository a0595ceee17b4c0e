"""One SM to calculate with: of a GPU or compute capability, or described by its limits; exact, or as textbooks have it.

A textbook divides what an SM has by what a CTA asks for: without the units in which registers and shared memory are
handed out, without what the system takes, and by threads in the place of warps. That is an SM whose units are all 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..errors import FieldError
from ..hardware.capability import ComputeCapability, capability
from .amounts import count, number

CUSTOM = "custom"  # the key of an SM that has no compute capability
_RESERVING = "8.0"  # the first whose system takes some of every CTA
_UNRESERVED = "7.0"  # the latest whose system takes nothing of shared memory: the rules for an SM described alone
_MOST = 2**24


class Cta(NamedTuple):
    """What one CTA asks for: threads, registers of each, shared memory, static and dynamic."""

    threads: int
    registers: int
    shared_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the user says of an SM; None leaves what its GPU or compute capability has."""

    sm_threads: int | None = None
    sm_blocks: int | None = None
    sm_registers: int | None = None
    sm_shared_bytes: float | None = None

    def given(self) -> dict[str, int]:
        """The limits that are not None.

        Raises:
            FieldError: one is no whole number from 1 on.
        """
        named = {name: getattr(self, name) for name in self.__slots__}
        return {name: count(name, value, _MOST) for name, value in named.items() if value is not None}


def described(base: ComputeCapability | None, limits: Limits) -> ComputeCapability:
    """The SM of a compute capability with these limits, or one described by all four of them alone.

    Raises:
        FieldError: neither; a limit is out of range.
    """
    given = limits.given()
    missing = [name.replace("_", "-") for name in Limits.__slots__ if name not in given]
    if base is None and missing:
        raise FieldError(f"gpu: none given; right would be --gpu NAME or --cc 9.0, or also --{', --'.join(missing)}")
    if base is None:
        base = replace(capability(_UNRESERVED), key=CUSTOM)
    return _with(base, given)


def _with(sm: ComputeCapability, given: dict[str, int]) -> ComputeCapability:
    threads = given.get("sm_threads", sm.max_threads_per_sm)
    if threads < sm.warp_size:
        raise FieldError(f"sm_threads must be {sm.warp_size} or more, a warp, got {threads}")
    shared = given.get("sm_shared_bytes")
    if shared is not None:
        most = max(shared - sm.reserved_shared_bytes_per_cta, 0)
        sm = replace(sm, shared_bytes_per_sm=shared, shared_bytes_per_cta=most, carveouts_bytes=(shared,))
    return replace(
        sm,
        max_threads_per_sm=threads,
        max_warps_per_sm=threads // sm.warp_size,
        max_threads_per_cta=min(sm.max_threads_per_cta, threads),
        max_ctas_per_sm=given.get("sm_blocks", sm.max_ctas_per_sm),
        registers_per_sm=given.get("sm_registers", sm.registers_per_sm),
    )


def textbook(sm: ComputeCapability) -> ComputeCapability:
    """The SM without any unit or reserve."""
    return replace(
        sm,
        warp_size=1,
        warp_unit=1,
        max_warps_per_sm=sm.max_threads_per_sm,
        register_unit_per_warp=1,
        shared_granularity_bytes=1,
        reserved_shared_bytes_per_cta=0,
        shared_bytes_per_cta=sm.shared_bytes_per_sm,
    )


def exact(sm: ComputeCapability) -> ComputeCapability:
    """The SM with the reserve and the unit of shared memory that real ones have, if it is described alone."""
    if sm.key != CUSTOM:
        return sm
    rules = capability(_RESERVING)
    return replace(
        sm,
        reserved_shared_bytes_per_cta=rules.reserved_shared_bytes_per_cta,
        shared_granularity_bytes=rules.shared_granularity_bytes,
    )


def carved(sm: ComputeCapability, carveout_bytes: float) -> ComputeCapability:
    """The SM set to share at least this much of its memory with CTAs; the rest is L1.

    Raises:
        FieldError: more than the SM can be set to, or less than nothing.
    """
    most = max(sm.carveouts_bytes)
    if not 0 <= number("carveout_bytes", carveout_bytes) <= most:
        raise FieldError(f"carveout_bytes must be from 0 to {most} on this SM, got {carveout_bytes:.12g}")
    return replace(sm, shared_bytes_per_sm=next(setting for setting in sm.carveouts_bytes if setting >= carveout_bytes))
