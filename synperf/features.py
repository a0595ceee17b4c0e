"""Load per SM -> demand on every pipe, at the level of the task, the busiest SM and the GPU.

GPU level: total work over the rate of all SMs. Busiest SM: its work over its own rate. DRAM and L2 are pools that an
SM with much work draws from beyond its share, so for DRAM both levels are equal, and for L2 the busiest SM has the
pool's time, or that of its own port to L2 where this is longer.
Source: SynPerf, arXiv 2601.14910, section on the feature analyser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .hardware import GPU, DType
from .hardware.rates import rates
from .kernels.base import KernelFamily
from .numeric import Number, maximum, where
from .scheduling import Load, TaskGroups, schedule

PIPES = ("tensor", "fma", "xu", "dram", "l2", "shared")
VERSION = 1


@dataclass(slots=True, kw_only=True)
class Demand:
    """Seconds that one pipe is busy, at its published rate: on average over the GPU, and on the busiest SM."""

    gpu_s: Number
    sm_max_s: Number


_IDLE = Demand(gpu_s=0.0, sm_max_s=0.0)


@dataclass(slots=True, kw_only=True)
class Features:
    """What estimators see of a call: pipes in seconds, and quantities that mean the same on every GPU.

    `padding` is useful over padded FLOP, `intensity_over_ridge` above 1 means compute-bound on the roofline,
    `working_set_over_l2` above 1 means that operands and result do not fit in L2.
    """

    pipes: dict[str, Demand]
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


def features(family: KernelFamily, call: Any, gpu: GPU) -> Features:
    """Decompose, schedule and analyse one call, or columns of calls."""
    return analyse(family, call, gpu, family.decompose(call, gpu))


def analyse(family: KernelFamily, call: Any, gpu: GPU, groups: TaskGroups) -> Features:
    """Features of task groups that are already there; `load` is that of the first launch, pipes add up over all."""
    load = schedule(groups, gpu.num_sms)
    flop, compulsory, dram = family.flop(call), family.compulsory_bytes(call), family.dram_bytes(call, gpu)
    roofline_s = roofline(gpu, call.dtype, flop, compulsory)
    return Features(
        pipes=pipes(groups, load, gpu, call.dtype, dram)
        if groups.then is None
        else _in_turn(groups, gpu, call.dtype, dram),
        roofline_s=roofline_s,
        floor_s=floor(gpu, call.dtype, flop, compulsory),
        flop=flop,
        compulsory_bytes=compulsory,
        dram_bytes=dram,
        load=load,
        reduction_s=groups.reduction_s,
        padding=flop / padded_flop(groups),
        intensity_over_ridge=flop / compulsory / rates(gpu, call.dtype).ridge_flop_per_byte,
        working_set_over_l2=compulsory / gpu.l2_bytes,
        before_s=groups.before_s,
        fill_s=groups.fill_s,
        serial_s=groups.reduction_s if groups.fill_s is None else groups.before_s + groups.fill_s + groups.reduction_s,
    )


def padded_flop(groups: TaskGroups) -> Number:
    """FLOP of all launches, edge tiles counted whole, on the pipe that multiplies: what else FMA does is not in it."""
    flop: Number = groups.count * _multiplied(groups.tensor_flop, groups.fma_flop)
    return flop if groups.then is None else flop + padded_flop(groups.then)


def _multiplied(tensor_flop: Number, fma_flop: Number) -> Number:
    """FLOP of one task on tensor cores, else on FMA, call by call."""
    if type(tensor_flop) is float:
        return fma_flop if tensor_flop == 0.0 else tensor_flop
    return tensor_flop if type(fma_flop) is float else where(tensor_flop > 0, tensor_flop, fma_flop)


def _in_turn(groups: TaskGroups, gpu: GPU, dtype: DType, dram_bytes: Number) -> dict[str, Demand]:
    """Every pipe's demand of launches one after the other; `dram_bytes` are those of all."""
    parts = [pipes(g, schedule(g, gpu.num_sms), gpu, dtype, 0.0) for g in groups.launches()]
    found = {
        name: Demand(gpu_s=sum(x[name].gpu_s for x in parts), sm_max_s=sum(x[name].sm_max_s for x in parts))
        for name in PIPES
    }
    dram_s = dram_bytes / gpu.dram_bytes_per_s
    return found | {"dram": Demand(gpu_s=dram_s, sm_max_s=dram_s)}


def pipes(groups: TaskGroups, load: Load, gpu: GPU, dtype: DType, dram_bytes: Number) -> dict[str, Demand]:
    """Every pipe's demand of a launch of identical tasks."""
    r = rates(gpu, dtype)
    dram_s = dram_bytes / gpu.dram_bytes_per_s
    l2_s = load.tasks * (groups.load_bytes + groups.store_bytes) / gpu.l2_bytes_per_s
    return {
        "tensor": _demand(groups.tensor_flop, r.math_flop_per_s, load),
        "fma": _demand(groups.fma_flop, r.fma_flop_per_s, load),
        "xu": _demand(groups.xu_op, r.xu_op_per_s, load),
        "dram": Demand(gpu_s=dram_s, sm_max_s=dram_s),
        "l2": Demand(
            gpu_s=l2_s, sm_max_s=maximum(l2_s, load.sm_max_tasks * groups.port_bytes / gpu.l2_port_bytes_per_s)
        ),
        "shared": _demand(groups.shared_bytes, r.shared_bytes_per_s, load),
    }


def _demand(work_per_task: Number, rate_per_sm: float, load: Load) -> Demand:
    if type(work_per_task) is float and work_per_task == 0.0:  # a pipe that the kernel does not use
        return _IDLE
    return Demand(
        gpu_s=load.tasks * work_per_task / (rate_per_sm * load.num_sms),
        sm_max_s=load.sm_max_tasks * work_per_task / rate_per_sm,
    )


def roofline(gpu: GPU, dtype: DType, flop: Number, compulsory_bytes: Number) -> Number:
    """Lower bound: the slower of compute and DRAM traffic, perfectly overlapped.

    Source: Williams, Waterman, Patterson, CACM 52(4), 2009.
    """
    return maximum(flop / rates(gpu, dtype).peak_flop_per_s, compulsory_bytes / gpu.dram_bytes_per_s)


def floor(gpu: GPU, dtype: DType, flop: Number, compulsory_bytes: Number) -> Number:
    """Physical bound: FLOP at the highest clock, DRAM for what cannot stay in L2, L2 for all compulsory bytes."""
    math_s = flop / rates(gpu, dtype).max_flop_per_s
    dram_s = maximum(compulsory_bytes - gpu.l2_bytes, 0.0) / gpu.dram_bytes_per_s
    return maximum(maximum(math_s, dram_s), compulsory_bytes / gpu.l2_bytes_per_s)
