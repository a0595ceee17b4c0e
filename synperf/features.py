"""Load per SM -> demand on every pipe, at the level of the task, the busiest SM and the GPU.

GPU level: total work over the rate of all SMs. Busiest SM: its work over its own rate. DRAM and L2 are pools that an
SM with much work draws from beyond its share, so for DRAM both levels are equal, and for L2 the busiest SM has the
pool's time, or that of its own port to L2 where this is longer, or of loads that wait for one another.
Source: SynPerf, arXiv 2601.14910, section on the feature analyser.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

from .hardware import GPU, DType
from .hardware.rates import rates
from .kernels.base import KernelFamily
from .numeric import Number, maximum, where
from .scheduling import Load, TaskGroups, schedule

PIPES = ("tensor", "fma", "xu", "dram", "l2", "shared")
VERSION = 1


class Demand(NamedTuple):
    """Seconds that one pipe is busy, at its published rate: on average over the GPU, and on the busiest SM."""

    gpu_s: Number
    sm_max_s: Number


@dataclass(slots=True, kw_only=True)
class Features:
    """What estimators see of a call: the busiest SM's pipes in seconds, and quantities that mean the same on every GPU.

    `roofline_s` is that of the nominal roofline, of memory-bound families that of their slowest pipe, L2 included.
    `padding` is useful over padded FLOP, `intensity_over_ridge` above 1 means compute-bound on the roofline,
    `working_set_over_l2` above 1 means that operands and result do not fit in L2.
    """

    groups: TaskGroups
    gpu: GPU
    dtype: DType
    busiest_s: dict[str, Number]  # that each pipe of the busiest SM is busy
    roofline_s: Number
    floor_s: Number
    flop: Number
    compulsory_bytes: Number
    dram_bytes: Number
    load: Load
    reduction_s: Number  # a launch that sums partial results, after the tasks
    padding: Number
    intensity_over_ridge: Number
    working_set_over_l2: Number
    before_s: Number  # a pass that prepares operands
    fill_s: Number  # while an SM's tasks wait for their first data and last store; None where other tasks hide it
    serial_s: Number  # all that runs before or after the tasks, or while their pipes are idle

    @property
    def pipes(self) -> dict[str, Demand]:
        """Every pipe's demand on both levels; estimates need the busiest SM's alone."""
        mean_s = gpu_s(self.groups, self.gpu, self.dtype, self.dram_bytes)
        return {name: Demand(mean_s[name], self.busiest_s[name]) for name in PIPES}


def features(family: KernelFamily, call: Any, gpu: GPU) -> Features:
    """Decompose, schedule and analyse one call, or columns of calls."""
    return analyse(family, call, gpu, family.decompose(call, gpu))


def analyse(family: KernelFamily, call: Any, gpu: GPU, groups: TaskGroups) -> Features:
    """Features of task groups that are already there; `load` is that of the first launch, pipes add up over all."""
    load, dtype = schedule(groups, gpu.num_sms), family.math(call)
    flop, compulsory, dram = family.flop(call), family.compulsory_bytes(call), family.dram_bytes(call, gpu)
    busiest = busiest_s(groups, load, gpu, dtype, dram) if groups.then is None else _in_turn(groups, gpu, dtype, dram)
    reduction_s, fill_s = groups.reduction_s, groups.fill_s
    return Features(
        groups=groups,
        gpu=gpu,
        dtype=dtype,
        busiest_s=busiest,
        roofline_s=slowest_pipe(groups, gpu, dtype, dram)
        if family.is_memory_bound
        else roofline(gpu, dtype, flop, compulsory),
        floor_s=floor(
            gpu, dtype, flop if family.least_flop is None else family.least_flop(call), compulsory, family.l2_saves
        ),
        flop=flop,
        compulsory_bytes=compulsory,
        dram_bytes=dram,
        load=load,
        reduction_s=reduction_s,
        padding=1.0 if family.is_memory_bound else flop / padded_flop(groups),
        intensity_over_ridge=flop / compulsory / rates(gpu, dtype).ridge_flop_per_byte,
        working_set_over_l2=compulsory / gpu.l2_bytes,
        before_s=groups.before_s,
        fill_s=fill_s,
        serial_s=reduction_s if fill_s is None else groups.before_s + fill_s + reduction_s,
    )


def slowest_pipe(groups: TaskGroups, gpu: GPU, dtype: DType, dram_bytes: Number) -> Number:
    """Seconds of the pipe that is busy longest on average over the GPU: the roof of a kernel that no pipe but its own
    memory traffic need bound.
    """
    return reduce(maximum, gpu_s(groups, gpu, dtype, dram_bytes).values())


def padded_flop(groups: TaskGroups) -> Number:
    """FLOP of all launches, edge tiles counted whole, on the pipe that multiplies: what else FMA does is not in it."""
    flop: Number = groups.count * _multiplied(groups.tensor_flop, groups.fma_flop)
    return flop if groups.then is None else flop + padded_flop(groups.then)


def _multiplied(tensor_flop: Number, fma_flop: Number) -> Number:
    """FLOP of one task on tensor cores, else on FMA, call by call."""
    if type(tensor_flop) is float:
        return fma_flop if tensor_flop == 0.0 else tensor_flop
    return tensor_flop if type(fma_flop) is float else where(tensor_flop > 0, tensor_flop, fma_flop)


def _in_turn(groups: TaskGroups, gpu: GPU, dtype: DType, dram_bytes: Number) -> dict[str, Number]:
    """As `busiest_s`, of launches one after the other; `dram_bytes` are those of all."""
    parts = [busiest_s(g, schedule(g, gpu.num_sms), gpu, dtype, 0.0) for g in groups.launches()]
    return {name: sum(part[name] for part in parts) for name in PIPES} | {"dram": dram_bytes / gpu.dram_bytes_per_s}


def busiest_s(groups: TaskGroups, load: Load, gpu: GPU, dtype: DType, dram_bytes: Number) -> dict[str, Number]:
    """Seconds that each pipe of the busiest SM is busy in a launch of identical tasks."""
    r, busiest = rates(gpu, dtype), load.sm_max_tasks
    return {
        "tensor": busiest * groups.tensor_flop / r.math_flop_per_s,
        "fma": busiest * groups.fma_flop / r.fma_flop_per_s,
        "xu": busiest * groups.xu_op / r.xu_op_per_s,
        "dram": dram_bytes / gpu.dram_bytes_per_s,
        "l2": maximum(_drawn_s(groups, load, gpu), groups.waits_s),
        "shared": busiest * groups.shared_bytes / r.shared_bytes_per_s,
    }


def seen_l2_s(f: Features) -> Number:
    """Seconds of the busiest SM's L2 as networks were shown them when they were trained."""
    waits_s = f.groups.seen_waits_s
    return f.busiest_s["l2"] if waits_s is None else maximum(_drawn_s(f.groups, f.load, f.gpu), waits_s)


def working(f: Features) -> Features:
    """The features without what a launch of one short task waits too: what is left grows with the call."""
    l2_s = maximum(_drawn_s(f.groups, f.load, f.gpu), f.groups.waits_s - f.groups.least_waits_s)
    return f if f.groups.then is not None else replace(f, busiest_s={**f.busiest_s, "l2": l2_s})


def _drawn_s(groups: TaskGroups, load: Load, gpu: GPU) -> Number:
    """Seconds that what the tasks draw from L2 keeps the pool, or the port of the busiest SM."""
    pool_s = load.tasks * (groups.load_bytes + groups.store_bytes) / gpu.l2_bytes_per_s
    return maximum(pool_s, load.sm_max_tasks * groups.port_bytes / gpu.l2_port_bytes_per_s)


def gpu_s(groups: TaskGroups, gpu: GPU, dtype: DType, dram_bytes: Number) -> dict[str, Number]:
    """Seconds that each pipe is busy on average over the GPU, in all launches; `dram_bytes` are those of all."""
    r, parts = rates(gpu, dtype), groups.launches()
    return {
        "tensor": sum(g.count * g.tensor_flop for g in parts) / (r.math_flop_per_s * gpu.num_sms),
        "fma": sum(g.count * g.fma_flop for g in parts) / (r.fma_flop_per_s * gpu.num_sms),
        "xu": sum(g.count * g.xu_op for g in parts) / (r.xu_op_per_s * gpu.num_sms),
        "dram": dram_bytes / gpu.dram_bytes_per_s,
        "l2": sum(g.count * (g.load_bytes + g.store_bytes) for g in parts) / gpu.l2_bytes_per_s,
        "shared": sum(g.count * g.shared_bytes for g in parts) / (r.shared_bytes_per_s * gpu.num_sms),
    }


def roofline(gpu: GPU, dtype: DType, flop: Number, compulsory_bytes: Number) -> Number:
    """Lower bound: the slower of compute and DRAM traffic, perfectly overlapped.

    Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
    """
    return maximum(flop / rates(gpu, dtype).peak_flop_per_s, compulsory_bytes / gpu.dram_bytes_per_s)


def floor(gpu: GPU, dtype: DType, flop: Number, compulsory_bytes: Number, l2_saves: float = 1.0) -> Number:
    """Physical bound: FLOP at the highest clock, DRAM for what cannot stay in L2, L2 for all compulsory bytes.

    `l2_saves` is how many compulsory bytes L2 spares DRAM for each that it holds.
    """
    math_s, l2_s = flop / rates(gpu, dtype).max_flop_per_s, compulsory_bytes / gpu.l2_bytes_per_s
    dram_s = (compulsory_bytes - l2_saves * gpu.l2_bytes) / gpu.dram_bytes_per_s  # below 0 where all stays in L2
    return maximum(maximum(math_s, l2_s), dram_s)
