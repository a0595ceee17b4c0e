"""One decomposition of every memory-bound call: CTAs over rows, over several short rows, or over chunks of long ones.

What CTAs move bounds them in four ways: DRAM and L2 by the bytes of all, the port of an SM by those of the SM, the path
from L1 to registers by how wide a load is, and what an SM waits for: where few CTAs run, loads that follow one another,
where CTAs are small, the next one to start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..hardware import GPU
from ..numeric import Number, ceil_div, common_divisor, floor, maximum, minimum, power_of_two, where
from ..scheduling import TaskGroups
from .memory_traits import Style, clocks, l2_held_bytes
from .memory_work import Work

SECTOR_BYTES = 32.0  # L2 is read and written in sectors. Source: CUDA C++ Programming Guide, "Device Memory Accesses"
WIDEST_BYTES = 16.0  # of one load of a thread. Source: the same, "Vector Memory Access"
_BANK_BYTES = 4.0  # a warp whose threads load less than this leaves the path from L1 partly empty


@dataclass(slots=True, kw_only=True)
class Split:
    """How a call falls into CTAs: of each at most `rows` rows by `values` values, by `threads` threads."""

    rows: Number
    values: Number
    threads: Number
    vector_bytes: Number
    tasks: Number
    ctas_per_sm: Number


def flattened(w: Work, k: Style) -> Work:
    """An array that needs no reduction, where CTAs take chunks of any length: all its rows as one."""
    if not k.values or k.rows > 1 or w.reductions or w.column_bytes:
        return w
    return replace(w, is_flat=True, rows=1.0, dim=w.values, row_in=w.row_in * w.rows, row_out=w.row_out * w.rows)


def split(w: Work, k: Style, gpu: GPU) -> Split:
    """Rows and values of a CTA, and its threads: a power of two, with a load for each as far as there are values."""
    vector_bytes = _vector_bytes(w, k)
    values = minimum(w.dim, float(k.values)) if k.values else 1.0 * w.dim
    of_row = values * k.rows * w.value_in / vector_bytes  # loads
    team = minimum(maximum(power_of_two(of_row), float(k.team)), float(k.threads))
    rows = maximum(floor(k.pack / team), 1.0) if k.pack else float(k.rows)
    threads = maximum(maximum(team, float(k.pack)), float(gpu.warp_size))
    return Split(
        rows=minimum(rows, w.rows),
        values=values,
        threads=threads,
        vector_bytes=vector_bytes,
        tasks=ceil_div(w.rows, rows) * ceil_div(w.dim, values),
        ctas_per_sm=_resident(gpu, threads, k.registers),
    )


def _vector_bytes(w: Work, k: Style) -> Number:
    """The widest load of the kernel that every row is aligned to; at least a value."""
    if k.gathers:
        return w.value_in
    if w.is_flat:  # its end alone may not be aligned
        return max(k.widest, w.value_in)
    return common_divisor(w.dim * w.value_in, max(k.widest, w.value_in))


def _resident(gpu: GPU, threads: Number, registers: int) -> Number:
    """CTAs of so many threads that an SM holds, by warps, registers and CTAs; shared memory does not limit them."""
    by_threads = min(float(gpu.warp_size * gpu.max_warps_per_sm), gpu.registers_per_sm / registers)
    return maximum(minimum(floor(by_threads / threads), float(gpu.max_ctas_per_sm)), 1.0)


def missed(w: Work, gpu: GPU) -> Number:
    """The share of a call's bytes that does not stay in L2 between a launch and the next over the same data.

    None where all fit in what L2 holds; all where twice that does not suffice, since the oldest leave it first.
    """
    held = l2_held_bytes(gpu)
    return minimum(maximum(w.compulsory_bytes / held - 1.0, 0.0), 1.0)


def dram_bytes(w: Work, k: Style, gpu: GPU) -> Number:
    """DRAM traffic: what L2 misses, between launches of a chain too, and later passes over rows longer than L2."""
    between = w.values * (k.extra_read + k.extra_write)
    again = (_passes(w, k) - 1.0) * maximum(w.values * w.read - w.rows * gpu.l2_bytes, 0.0)
    return missed(w, gpu) * (w.compulsory_bytes + between) + again


def _passes(w: Work, k: Style) -> Number:
    return 1.0 if k.keeps else w.passes


def tasks(w: Work, k: Style, gpu: GPU) -> TaskGroups:
    """CTAs of one launch as one group whose work is that of the mean one; those at the ends have less to do."""
    s = split(w, k, gpu)
    mean = w.values / s.tasks
    waits_s = _waits_s(w, k, s, gpu, started(k, s))
    busiest = minimum(ceil_div(s.tasks, gpu.num_sms) * s.rows * s.values, w.values)
    load, store, kept = _moved(w, k, s, gpu)
    narrow = maximum(_BANK_BYTES / s.vector_bytes, 1.0)
    again = (_passes(w, k) - 1.0) * w.read
    return TaskGroups(
        count=s.tasks,
        fma_flop=w.flop * w.executed * mean,
        xu_op=(w.xu + w.row_xu / w.dim) * mean,
        load_bytes=load * mean,
        store_bytes=store * mean,
        port_bytes=(load + store) * mean,
        shared_bytes=(load + store + where(kept, again, 0.0)) * narrow * mean,
        ctas_per_sm=s.ctas_per_sm,
        sm_max_tasks=busiest / mean,
        waits_s=waits_s,
        least_waits_s=_least_waits_s(w, k, gpu),
        seen_waits_s=_waits_s(w, k, s, gpu, _held(s, gpu)) if k.grid else waits_s,
    )


def started(k: Style, s: Split) -> Number:
    """CTAs of the launch."""
    return minimum(s.tasks, float(k.grid)) if k.grid else s.tasks


def _held(s: Split, gpu: GPU) -> Number:
    """CTAs of a launch whose CTAs may walk as networks were shown them: no more than the GPU holds."""
    return minimum(s.tasks, gpu.num_sms * s.ctas_per_sm)


def _moved(w: Work, k: Style, s: Split, gpu: GPU) -> tuple[Number, Number, Number]:
    """Bytes per value out of L2 and into it, and whether L1 keeps rows between passes.

    A row that does not begin and end with a sector takes part of one more from it, on average `SECTOR_BYTES` less the
    alignment, in each stream.
    """
    read, written = w.read, w.written
    if not w.is_flat:
        read = read + w.streams_in * _beside(w.dim * w.value_in) / s.values
        written = written + w.streams_out * _beside(w.dim * w.value_out) / s.values
    if k.gathers:
        read = SECTOR_BYTES
    kept = s.rows * s.values * w.read * s.ctas_per_sm <= gpu.shared_bytes_per_sm  # which L1 is a part of
    repeated = where(kept, 0.0, (_passes(w, k) - 1.0) * w.read)
    return read + repeated + w.column_bytes / s.rows + k.extra_read, written + k.extra_write, kept


def _beside(row_bytes: Number) -> Number:
    return SECTOR_BYTES - common_divisor(row_bytes, SECTOR_BYTES)


def _waits_s(w: Work, k: Style, s: Split, gpu: GPU, ctas: Number) -> Number:
    """Seconds that the busiest SM waits: its tasks for one load of every thread after the other, or for the start of so
    many CTAs.
    """
    at_once = s.threads * minimum(k.unroll * s.vector_bytes, WIDEST_BYTES)
    loads = ceil_div(s.rows * s.values * w.value_in, at_once) * _passes(w, k)
    clk = clocks()
    latency = clk.l2 + missed(w, gpu) * (clk.dram - clk.l2)
    one = loads * latency + _reduction_clocks(w, k)
    rounds = ceil_div(ceil_div(s.tasks, gpu.num_sms), s.ctas_per_sm)
    return maximum(rounds * one, ctas * clk.cta) / gpu.clock_hz


def _least_waits_s(w: Work, k: Style, gpu: GPU) -> Number:
    """Seconds that even one short task waits: for a load in every pass, and for its reductions."""
    return (_passes(w, k) * clocks().l2 + _reduction_clocks(w, k)) / gpu.clock_hz


def _reduction_clocks(w: Work, k: Style) -> Number:
    return (w.reductions + k.reductions) * clocks().reduction
