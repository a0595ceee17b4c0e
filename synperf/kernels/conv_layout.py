"""Images in NCHW on tensor cores: their kernels take NHWC, so the image is transposed before and the result after.

Source: NVIDIA, "Convolutional Layers User's Guide", section "Tensor layouts in memory: NCHW vs NHWC".
"""

from __future__ import annotations

from ..hardware import GPU, DType
from ..hardware.launch import launch_floor
from ..numeric import Number, is_array, maximum
from .base import held
from .conv_call import Conv
from .transpose import FAMILY, Transpose


def is_converted(p: Conv, gpu: GPU) -> bool:
    """Whether a matrix product has its images in another layout than they are."""
    return p.layout == "nchw" and gpu.math_pipe(p.dtype) == "tensor"


@held
def passes(p: Conv) -> tuple[Transpose, Transpose]:
    """The transposes of the image and of the result."""
    image = _transpose(p, p.in_channels, 1.0 * p.batch * p.height * p.width)
    return image, _transpose(p, p.out_channels, p.batch * p.out_height * p.out_width)


def _transpose(p: Conv, channels: Number, points: Number) -> Transpose:
    stored = DType.FP32 if p.dtype is DType.TF32 else p.dtype
    return Transpose(rows=channels, dim=points if is_array(points) else int(points), dtype=stored, engine="plain")


def moved_bytes(p: Conv) -> Number:
    """Bytes that both passes read and write."""
    return sum(FAMILY.compulsory_bytes(one) for one in passes(p))


def dram_bytes(p: Conv, gpu: GPU) -> Number:
    """DRAM traffic of both passes; what L2 holds from one launch to the next costs none."""
    return sum(FAMILY.dram_bytes(one, gpu) for one in passes(p))


def seconds(p: Conv, gpu: GPU) -> Number:
    """Both passes, one launch each, at published rates."""
    return sum(_seconds(one, gpu) for one in passes(p))


def _seconds(one: Transpose, gpu: GPU) -> Number:
    groups = FAMILY.decompose(one, gpu)
    l2_s = groups.count * (groups.load_bytes + groups.store_bytes) / gpu.l2_bytes_per_s
    launch_s, _ = launch_floor(gpu, FAMILY.name, "plain", one.dtype, FAMILY.launches_like)
    return launch_s + maximum(l2_s, FAMILY.dram_bytes(one, gpu) / gpu.dram_bytes_per_s)
