"""Why an SM holds as many CTAs as it does: a sentence for each resource that stops it, with the division in it."""

from __future__ import annotations

from collections.abc import Iterator

from ..hardware.capability import ComputeCapability
from ..scheduling.occupancy import Occupancy, registers_checked, registers_of_warp, shared_of_cta, warps_of
from ..units import format_binary, format_percent
from .sm import Cta


def explained(sm: ComputeCapability, cta: Cta, found: Occupancy, exact: Occupancy | None) -> Iterator[str]:
    """The limiters first, then what follows for warps."""
    for name in found.limiters:
        yield _SENTENCES[name](sm, cta, found.limits[name])
    if found.ctas_per_sm:
        yield _slots(sm, cta, found)
    if sm.warp_size > 1 and cta.threads % sm.warp_size:
        warps = warps_of(sm, cta.threads)
        used = format_percent(cta.threads / (warps * sm.warp_size))
        yield f"{cta.threads} threads are {warps} warps, of whose lanes they use {used}"
    if exact is not None:
        limiters = " and ".join(exact.limiters)
        yield (
            f"a textbook divides alone; with the units in which SMs hand things out, and with what the system takes, "
            f"this one holds {ctas(exact.ctas_per_sm)}, {format_percent(exact.occupancy)}, limited by {limiters}"
        )


def ctas(count: int) -> str:
    """`1 CTA`, `6 CTAs`."""
    return f"{count:,} CTA{'' if count == 1 else 's'}"


def _slots(sm: ComputeCapability, cta: Cta, found: Occupancy) -> str:
    each, unit = warps_of(sm, cta.threads), _unit(sm)
    most = sm.max_warps_per_sm
    fill = "fills" if found.ctas_per_sm == 1 else "fill"
    return (
        f"{ctas(found.ctas_per_sm)} of {each} {unit} {fill} {found.warps_per_sm:,} of {most:,}: "
        f"{format_percent(found.occupancy, 4)}"
    )


def _unit(sm: ComputeCapability) -> str:
    return "warps" if sm.warp_size > 1 else "threads"


def _warps(sm: ComputeCapability, cta: Cta, limit: int) -> str:
    each = warps_of(sm, cta.threads)
    return f"warps: a CTA takes {each} of the {sm.max_warps_per_sm:,} {_unit(sm)} that an SM holds: {ctas(limit)}"


def _registers(sm: ComputeCapability, cta: Cta, limit: int) -> str:
    if not limit:
        return _registers_short(sm, cta)
    if sm.warp_size == 1:
        each = registers_checked(sm, cta.threads, cta.registers)
        return f"registers: a CTA takes {each:,} of {sm.registers_per_sm:,}: {ctas(limit)}"
    of_warp = registers_of_warp(sm, cta.registers)
    part = sm.registers_per_sm // sm.warp_unit
    each = warps_of(sm, cta.threads)
    return (
        f"registers: {_warp_takes(sm, cta)}; each of the {sm.warp_unit} partitions of an SM has {part:,}, for "
        f"{part // of_warp} warps, {part // of_warp * sm.warp_unit} in all: {ctas(limit)} of {each}"
    )


def _registers_short(sm: ComputeCapability, cta: Cta) -> str:
    needed = registers_checked(sm, cta.threads, cta.registers)
    each = warps_of(sm, cta.threads)
    short = (
        f"a CTA of {each} {_unit(sm)} needs {needed:,} of {sm.registers_per_sm:,}, so none can be launched: registers "
        "are spilled when a kernel is compiled, not when it is launched"
    )
    return f"registers: {short}" if sm.warp_size == 1 else f"registers: {_warp_takes(sm, cta)}; {short}"


def _warp_takes(sm: ComputeCapability, cta: Cta) -> str:
    asked, taken = cta.registers * sm.warp_size, registers_of_warp(sm, cta.registers)
    rounded = f"handed out by {sm.register_unit_per_warp}: {taken:,}"
    return f"{cta.registers} for each of {sm.warp_size} threads are {asked:,} for a warp, {rounded}"


def _shared(sm: ComputeCapability, cta: Cta, limit: int) -> str:
    asked = format_binary(cta.shared_bytes)
    if cta.shared_bytes > sm.shared_bytes_per_cta:
        return f"shared memory: {asked} are more than the {format_binary(sm.shared_bytes_per_cta)} that a CTA can have"
    reserve = sm.reserved_shared_bytes_per_cta
    with_reserve = f" and {format_binary(reserve)} that the system takes" if reserve else ""
    taken = f"{shared_of_cta(sm, cta.shared_bytes):,} of {sm.shared_bytes_per_sm:,} bytes"
    return f"shared memory: {asked}{with_reserve} make {taken} for a CTA: {ctas(limit)}"


def _ctas(sm: ComputeCapability, cta: Cta, limit: int) -> str:  # noqa: ARG001
    return f"CTAs: an SM holds {limit} at most, however little they take"


_SENTENCES = {"warps": _warps, "registers": _registers, "shared": _shared, "ctas": _ctas}
