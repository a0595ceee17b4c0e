"""2-D convolution: implicit GEMM by the tiles of matrix products, and a direct kernel where groups are small.

A task is one tile of the result, points of images by output channels, as of a GEMM; of the direct kernel it is a CTA
over values of the result. Images that tensor cores cannot take as they lie are transposed before, the result after.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..hardware import GPU
from ..numeric import Number, where
from ..scheduling import TaskGroups
from ..units import format_quantity
from . import conv_direct, conv_layout, gemm
from .base import KernelFamily, Launch
from .conv_call import Conv
from .conv_inputs import STEPPED, inputs
from .conv_work import (
    compulsory_bytes,
    flop,
    implicit_gemm,
    input_reuse,
    least_flop,
    operand_bytes,
    weight_reuse,
)


def decompose(p: Conv, gpu: GPU) -> TaskGroups:
    """Tasks of the kernel that each call runs, as one group of identical tasks."""
    if not conv_direct.any_direct(p):
        return _as_gemm(p, gpu)
    if conv_direct.all_direct(p):
        return conv_direct.tasks(p, gpu)
    return _chosen(conv_direct.is_direct(p), conv_direct.tasks(p, gpu), _as_gemm(p, gpu))


def _as_gemm(p: Conv, gpu: GPU) -> TaskGroups:
    before_s = conv_layout.seconds(p, gpu) if conv_layout.is_converted(p, gpu) else 0.0
    return replace(gemm.decompose(implicit_gemm(p), gpu), before_s=before_s, fill_s=0.0)


def _chosen(first: np.ndarray, yes: TaskGroups, no: TaskGroups) -> TaskGroups:
    """Columns of calls of which some run one kernel and some the other."""
    names = [f.name for f in fields(TaskGroups) if getattr(yes, f.name) is not None]
    return TaskGroups(**{name: where(first, getattr(yes, name), getattr(no, name)) for name in names})


def dram_bytes(p: Conv, gpu: GPU) -> Number:
    """Compulsory bytes, what later waves of a product read again, and the passes that change the layout."""
    if conv_direct.all_direct(p):
        return compulsory_bytes(p)
    image, kernels, _ = operand_bytes(p)
    besides = gemm.again_bytes(implicit_gemm(p), gpu, image, kernels)
    if conv_layout.is_converted(p, gpu):
        besides = besides + conv_layout.dram_bytes(p, gpu)
    return compulsory_bytes(p) + where(conv_direct.is_direct(p), 0.0, besides)


def launch(p: Conv, gpu: GPU) -> Launch:
    """Grid, resources and chosen tiling of one call, and how often values are used."""
    facts = {"input_reuse": input_reuse(p), "weight_reuse": weight_reuse(p)}
    if not conv_direct.all_direct(p):
        product = implicit_gemm(p)
        sizes = {"m": product.m, "n": product.n, "k": product.k, "groups": product.batch}
        return replace(gemm.launch(product, gpu), facts=facts | {name: float(size) for name, size in sizes.items()})
    own = conv_direct.tasks(p, gpu)
    return Launch(
        tiles=int(own.count),
        grid=(int(own.count), 1, 1),
        persistent=False,
        threads=conv_direct.THREADS,
        registers=conv_direct.REGISTERS,
        shared_bytes=0,
        occupancy=conv_direct.resident(gpu),
        choice={"values_per_cta": conv_direct.THREADS},
        choice_source="a direct kernel",
        facts=facts,
    )


def assumptions(p: Conv, gpu: GPU) -> tuple[str, ...]:
    """Which kernel the time is made of, and in which layout."""
    if conv_direct.all_direct(p):
        return ("kernel: direct, since a group has fewer channels than a fragment of the tensor cores",)
    said = []
    if conv_direct.any_direct(p):
        said.append("kernel: direct where a group has fewer channels than a fragment of the tensor cores")
    if conv_layout.is_converted(p, gpu):
        moved = conv_layout.moved_bytes(p)
        much = "" if np.ndim(moved) else f", which moves {format_quantity(moved, 'B')}"
        said.append(f"layout: tensor cores take nhwc, so nchw is transposed before and after{much}")
    return tuple(said)


def variant(p: Conv) -> Any:
    """Empty for kernels of 3 x 3 at every point of a dense convolution, where Winograd's algorithm may run; `other`."""
    is_dense = (p.kernel_h == 3) & (p.kernel_w == 3) & (p.stride == 1) & (p.dilation == 1) & (p.groups == 1)
    return where(is_dense, "", "other")


FAMILY = KernelFamily(
    name="conv",
    call_type=Conv,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    least_flop=least_flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=Conv(
        batch=32,
        in_channels=128,
        out_channels=128,
        height=56,
        width=56,
        kernel_h=3,
        kernel_w=3,
        padding=1,
        layout="nhwc",
    ),
    inputs=inputs,
    stepped=STEPPED,
    shape=("in_channels", "out_channels", "height", "width", "kernel_h", "kernel_w"),
    variant=variant,
    summary="2-D convolution of images, grouped and depthwise too, in NCHW or NHWC",
)
