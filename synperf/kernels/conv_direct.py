"""Depthwise convolutions, and those of few channels a group: a direct kernel, one thread for each value of the result.

A tensor-core tile would be all but empty there: a group has less than one fragment of MMA on either side. Values under
the kernel come through L1, which has what neighbouring threads share.
Source: PyTorch, aten/src/ATen/native/cuda/DepthwiseConv2d.cu; NVIDIA, PTX ISA, "Matrix fragments for mma.m16n8k16".
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, is_array, minimum
from ..scheduling import Occupancy, TaskGroups, occupancy
from .conv_call import Conv
from .conv_work import flop, operand_bytes, result_values

FEW_CHANNELS = 8  # columns of the smallest fragment of mma.sync
THREADS = 256
REGISTERS = 32  # per thread, an estimate: an index, an accumulator and what is on its way


def is_direct(p: Conv) -> Number:
    """Whether a group has too few channels for the tensor cores."""
    few = (p.in_channels < p.groups * FEW_CHANNELS) & (p.out_channels < p.groups * FEW_CHANNELS)
    return few & (p.groups > 1)


def any_direct(p: Conv) -> bool:
    """Whether a call, or one of its columns, is direct."""
    found = is_direct(p)
    return bool(found.any()) if is_array(found) else bool(found)


def all_direct(p: Conv) -> bool:
    """Whether a call, or all of its columns, are direct."""
    found = is_direct(p)
    return bool(found.all()) if is_array(found) else bool(found)


def resident(gpu: GPU) -> Occupancy:
    """CTAs of the kernel that an SM holds."""
    return occupancy(gpu, THREADS, REGISTERS, 0)


def tasks(p: Conv, gpu: GPU) -> TaskGroups:
    """CTAs over the values of the result, as one group; the last one is taken as full as the others."""
    values = result_values(p)
    count, taps = ceil_div(values, THREADS), flop(p) / values / 2.0
    image, kernels, result = operand_bytes(p)
    own = minimum(values, float(THREADS))
    load = (image + kernels) / count
    return TaskGroups(
        count=count,
        fma_flop=2.0 * taps * own,
        load_bytes=load,
        store_bytes=result / count,
        port_bytes=load + result / count,
        shared_bytes=2.0 * taps * own * p.dtype.bytes,  # a value of the image and one of the kernel for each product
        ctas_per_sm=float(resident(gpu).ctas_per_sm),
        fill_s=0.0,
    )
