"""How launches fill a GPU: waves, the last wave, occupancy and what limits it, from the geometry that a trace records.

A wave is as many CTAs as fit on all SMs at once. Occupancy is the theoretical one, from threads, registers and shared
memory; `recorded_occupancy` is the profiler's own estimate.
"""

from __future__ import annotations

from math import ceil, isnan
from typing import NamedTuple

import numpy as np

from ..errors import FieldError
from ..hardware import GPU
from ..scheduling.occupancy import Occupancy, occupancy
from ..traces.events import Kind, Trace, aligned, all_aligned, distinct
from ..units import counted, format_percent
from .classify import collectives
from .finding import Finding, named, told
from .gpu_of import Known

_WARP = 32  # threads, of every GPU of NVIDIA: others do not record geometry in full
_MOST = 2**50  # blocks of a grid, threads of a block: more are damage
_WORTH = 0.02  # share of the span from which small grids are a finding


class Geometry(NamedTuple):  # there are hundreds, which are filled faster than those of other classes
    """All runs of one kernel name with one geometry on one device; also those that have no time, which is 0 then.

    None is what the trace, or the catalog, does not say. `ctas_per_sm` fit on an SM at once, `blocks_per_sm` is the
    grid over the SMs, `warps_per_sm` that in warps. `last_wave` is how full the last wave is, and `slots_used` how much
    of all waves is. `max_registers` is what a thread can have.
    """

    rank: int | None
    device: int
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    shared_bytes: int | None
    count: int  # type: ignore[assignment]  # nobody counts values in one
    total_ns: int
    blocks: int
    threads: int
    warp_size: int
    max_registers: int | None
    blocks_per_sm: float | None
    warps_per_sm: float | None
    ctas_per_sm: int | None
    occupancy: float | None
    limiters: tuple[str, ...]
    recorded_occupancy: float | None
    waves: float | None
    last_wave: float | None
    slots_used: float | None


def devices(trace: Trace) -> list[int]:
    """Devices that have kernels, with a time or without one."""
    found: list[int] = distinct(trace.events.device[trace.events.of(Kind.KERNEL, Kind.UNTIMED)]).tolist()
    return found


def geometry(trace: Trace, known: Known) -> tuple[Geometry, ...]:
    """Every launch geometry of a device but those of collectives, the one that takes most first.

    None of a trace without registers: HIP counts a grid now in blocks, now in threads, and does not say which.
    """
    events, side = trace.events, trace.events.geometry
    rows = events.of(Kind.KERNEL, Kind.UNTIMED)
    rows = rows[(events.device[rows] == known.device) & ~collectives(events, rows)]
    columns = all_aligned(side, ("grid", "block", "registers", "shared_bytes"), rows)
    blocks, threads = (np.prod(column.astype(float), axis=1) for column in columns[:2])  # -1 where there are none
    recorded = (blocks > 0) & (blocks < _MOST) & (threads > 0) & (threads < _MOST) & (columns[2] >= 0)
    if not recorded.any():
        return ()
    rows, keys = rows[recorded], np.column_stack([events.name[rows], *columns])[recorded]
    order = np.lexsort(keys.T)
    rows, keys = rows[order], keys[order]
    first = np.concatenate(([0], np.flatnonzero((np.diff(keys, axis=0) != 0).any(axis=1)) + 1))
    found = zip(
        keys[first].tolist(),
        np.diff(first, append=len(rows)).tolist(),
        np.add.reduceat(events.dur_ns[rows], first).tolist(),
        np.fmax.reduceat(aligned(side, "occupancy", rows), first).tolist(),
        strict=True,
    )
    made = [_measured(trace, known, *one) for one in found]
    return tuple(sorted(made, key=lambda one: (-one.total_ns, one.name, one.grid)))


def _measured(trace: Trace, known: Known, key: list[int], count: int, total_ns: int, recorded: float) -> Geometry:
    grid, block = (key[1], key[2], key[3]), (key[4], key[5], key[6])
    registers, shared = key[7], key[8] if key[8] >= 0 else None
    blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
    fits = _occupancy(known.gpu, threads, registers, shared)
    waves = blocks / (known.num_sms * fits.ctas_per_sm) if known.num_sms and fits else None
    return Geometry(
        rank=trace.rank,
        device=known.device,
        name=trace.events.names[key[0]],
        grid=grid,
        block=block,
        registers=registers,
        shared_bytes=shared,
        count=count,
        total_ns=total_ns,
        blocks=blocks,
        threads=threads,
        warp_size=known.gpu.warp_size if known.gpu else _WARP,
        max_registers=known.gpu.max_registers_per_thread if known.gpu else None,
        blocks_per_sm=blocks / known.num_sms if known.num_sms else None,
        warps_per_sm=_warps(blocks, threads, known),
        ctas_per_sm=fits.ctas_per_sm if fits else None,
        occupancy=fits.occupancy if fits else None,
        limiters=fits.limiters if fits else (),
        recorded_occupancy=None if isnan(recorded) else recorded,
        waves=waves,
        last_wave=waves - ceil(waves) + 1 if waves else None,
        slots_used=waves / ceil(waves) if waves else None,
    )


def _occupancy(gpu: GPU | None, threads: int, registers: int, shared: int | None) -> Occupancy | None:
    """None where the GPU or the geometry is not known, or no such CTA runs on that GPU: the trace says otherwise."""
    if gpu is None or shared is None:
        return None
    try:
        found = occupancy(gpu, threads, registers, shared)
    except FieldError:
        return None
    return found if found.ctas_per_sm else None


def _warps(blocks: int, threads: int, known: Known) -> float | None:
    if not known.num_sms or known.gpu is None:
        return None
    return blocks * ceil(threads / known.gpu.warp_size) / known.num_sms


def findings(found: tuple[Geometry, ...], span_ns: int) -> list[Finding]:
    """Grids with fewer CTAs than the GPU has SMs, where the SMs that have none could return time that is worth it."""
    small = [one for one in found if one.blocks_per_sm is not None and one.blocks_per_sm < 1 and one.total_ns]
    saving = sum(int(one.total_ns * (1 - (one.blocks_per_sm or 0))) for one in small)
    if saving <= _WORTH * span_ns:
        return []
    time, most = sum(one.total_ns for one in small), small[0]
    return [
        Finding(
            title="Grids are smaller than the GPU",
            evidence=f"{counted(sum(one.count for one in small), 'kernel')} with fewer CTAs than SMs take {told(time)},"
            f" {format_percent(time / span_ns)} of the span; most in {named(most.name)}, {counted(most.blocks, 'CTA')}",
            advice="Raise the batch size, split the work finer (split-K, smaller tiles), or run independent kernels on"
            " streams beside each other.",
            saving_ns=saving,
            rank=most.rank,
        )
    ]
