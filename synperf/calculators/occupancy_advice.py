"""The smallest changes after which an SM holds more, each found by trying every value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from ..hardware.capability import ComputeCapability
from ..scheduling.occupancy import Occupancy, occupancies, resident
from ..units import format_binary, format_percent
from .occupancy_sweep import over, values
from .occupancy_why import ctas
from .sm import Cta

_NVIDIA = "nvidia"


def largest(sm: ComputeCapability, cta: Cta) -> dict[str, int]:
    """The largest value of each field that still launches beside the others; fields of which none does are left out."""
    found = {field: _largest_with(sm, cta, field, 1) for field in Cta._fields}
    return {field: value for field, value in found.items() if value is not None}


def advised(sm: ComputeCapability, whole: ComputeCapability, cta: Cta, found: Occupancy) -> Iterator[str]:
    """Sentences; `whole` is the SM with the largest carve-out."""
    if found.ctas_per_sm == 0:
        yield from _to_launch(sm, cta)
        return
    if found.occupancy == 1:
        yield "nothing to gain: every warp slot is taken"
    else:
        yield from _to_hold_more(sm, whole, cta, found)
    yield from _opt_in(sm, cta)
    rest = cta.threads % sm.warp_size
    if rest and cta.threads > sm.warp_size:
        less, more = cta.threads - rest, cta.threads - rest + sm.warp_size
        yield f"{less} or {more} threads, whole warps, leave no lane unused"


def _to_launch(sm: ComputeCapability, cta: Cta) -> Iterator[str]:
    alone = largest(sm, cta)
    if "threads" in alone:
        held = ctas(resident(sm, *cta._replace(threads=alone["threads"])).ctas_per_sm)
        yield f"{alone['threads']} threads or fewer launch with {cta.registers} registers each: {held} on an SM"
    if "registers" in alone:
        yield f"{alone['registers']} registers or fewer launch a CTA of {cta.threads} threads{_how(sm, cta, 1)}"
    if "shared_bytes" in alone:
        yield f"{_size(alone['shared_bytes'])} of shared memory or less launch it"
    if not alone:
        yield from _together(sm, cta, 1)


def _to_hold_more(sm: ComputeCapability, whole: ComputeCapability, cta: Cta, found: Occupancy) -> Iterator[str]:
    goal = found.ctas_per_sm + 1
    alone = {field: _largest_with(sm, cta, field, goal) for field in ("registers", "shared_bytes")}
    if alone["registers"] is not None:
        most = alone["registers"]
        held = resident(sm, *cta._replace(registers=most))
        yield (
            f"{most} registers or fewer gives {ctas(held.ctas_per_sm)}, {format_percent(held.occupancy)}"
            f"{_how(sm, cta, held.ctas_per_sm)}"
        )
    if alone["shared_bytes"] is not None:
        held = resident(sm, *cta._replace(shared_bytes=alone["shared_bytes"]))
        yield (
            f"{_size(alone['shared_bytes'])} of shared memory or less gives {ctas(held.ctas_per_sm)}, "
            f"{format_percent(held.occupancy)}"
        )
    if not any(value is not None for value in alone.values()):
        yield from _together(sm, cta, goal)
    block = [*_other_block(sm, cta, found)]
    yield from block
    if not block and found.occupancy < 1 and not any(value is not None for value in alone.values()):
        yield from _block_and_registers(sm, cta, found)
    wider = resident(whole, *cta)
    if wider.ctas_per_sm > found.ctas_per_sm:
        yield f"the largest carve-out, {format_binary(whole.shared_bytes_per_sm)}, gives {ctas(wider.ctas_per_sm)}"


def _together(sm: ComputeCapability, cta: Cta, goal: int) -> Iterator[str]:
    """What registers and shared memory have to come down to where neither does alone."""
    bare = cta._replace(shared_bytes=0)
    registers = _largest_with(sm, bare, "registers", goal)
    shared = _largest_with(sm, cta._replace(registers=0), "shared_bytes", goal)
    if registers is None or shared is None:
        return
    both = cta._replace(registers=min(registers, cta.registers), shared_bytes=min(shared, cta.shared_bytes))
    held = resident(sm, *both)
    yield (
        f"{both.registers} registers and {_size(both.shared_bytes)} of shared memory together give "
        f"{ctas(held.ctas_per_sm)}, {format_percent(held.occupancy)}"
    )


def _other_block(sm: ComputeCapability, cta: Cta, found: Occupancy) -> Iterator[str]:
    """The block size that holds most warps, of these the nearest; what a thread takes stays as it is."""
    at = values(sm, "threads")
    tried = over(sm, cta, "threads", at)
    best = tried.warps_per_sm.max()
    if best <= found.warps_per_sm:
        return
    near = at[tried.warps_per_sm == best]
    size = int(near[np.argmin(abs(near - cta.threads))])
    held = resident(sm, *cta._replace(threads=size))
    beside = ", each with as much shared memory" if cta.shared_bytes else ""
    yield f"blocks of {size} threads give {ctas(held.ctas_per_sm)}, {format_percent(held.occupancy)}{beside}"


def _block_and_registers(sm: ComputeCapability, cta: Cta, found: Occupancy) -> Iterator[str]:
    """The most registers with which some block size holds more warps, and of these sizes the nearest."""
    sizes, counts = values(sm, "threads"), np.arange(1, max(cta.registers, 1) + 1)
    threads, registers = (grid.ravel() for grid in np.meshgrid(sizes, counts))
    better = occupancies(sm, threads, registers, cta.shared_bytes).warps_per_sm > found.warps_per_sm
    if not better.any():
        return
    most = registers[better].max()
    near = threads[better & (registers == most)]
    other = cta._replace(threads=int(near[np.argmin(abs(near - cta.threads))]), registers=int(most))
    held = resident(sm, *other)
    yield (
        f"{other.registers} registers and blocks of {other.threads} threads together give {ctas(held.ctas_per_sm)}, "
        f"{format_percent(held.occupancy)}"
    )


def _largest_with(sm: ComputeCapability, cta: Cta, field: str, goal: int) -> int | None:
    """The largest value of a field with which an SM holds `goal` CTAs; None where there is none.

    More of anything never holds more CTAs, so half of the values that are left can be ruled out at a time.
    """

    def falls_short(value: int) -> bool:
        return resident(sm, *cta._replace(**{field: value})).ctas_per_sm < goal

    tried = range(0 if field == "shared_bytes" else 1, _most(sm, field) + 1)
    enough = bisect_left(tried, True, key=falls_short)
    return tried[enough - 1] if enough else None


def _most(sm: ComputeCapability, field: str) -> int:
    return {
        "threads": sm.max_threads_per_cta,
        "registers": sm.max_registers_per_thread,
        "shared_bytes": sm.shared_bytes_per_cta,
    }[field]


def _opt_in(sm: ComputeCapability, cta: Cta) -> Iterator[str]:
    if sm.maker == _NVIDIA and cta.shared_bytes > sm.shared_bytes_without_opt_in:
        without = format_binary(sm.shared_bytes_without_opt_in)
        yield (
            f"more than {without} of shared memory has to be dynamic and asked for: "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
        )


def _how(sm: ComputeCapability, cta: Cta, goal: int) -> str:
    """How a compiler is told, where it can be."""
    if sm.maker != _NVIDIA:
        return ""
    return f" (__launch_bounds__({cta.threads}, {goal}) or -maxrregcount; what does not fit is spilled to memory)"


def _size(shared_bytes: int) -> str:
    return f"{shared_bytes:,} bytes" if shared_bytes % 1024 else format_binary(shared_bytes)
