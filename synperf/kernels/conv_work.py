"""What a convolution must read, write and compute, whatever kernel does it, and the matrix product that it is.

Implicit GEMM: a row of A for each point of the result, made of the values under the kernel; a column of B for each
output channel; one product per group. A is never stored: tiles of it are gathered from the image.
Source: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning", arXiv 1410.0759, section 3.
"""

from __future__ import annotations

from ..numeric import Number, common_divisor, is_array, maximum, minimum
from .base import held
from .conv_call import Conv
from .gemm_call import Gemm


def flop(p: Conv) -> Number:
    """Useful FLOP: a multiply and an add per tap of the kernel, input channel of the group and value of the result."""
    return _least(p) * (1.0 * p.kernel_h * p.kernel_w)


def least_flop(p: Conv) -> Number:
    """FLOP without which there is no result: one product per input channel of the group and value of the result.

    Winograd's algorithm comes close to it with large tiles; F(4x4, 3x3), as libraries have it, takes 2.25 times that.
    Source: Winograd, "Arithmetic Complexity of Computations", SIAM 1980; Lavin and Gray, arXiv 1509.09308, section 4.
    """
    return _least(p)


def _least(p: Conv) -> Number:
    return 2.0 * result_values(p) * p.in_channels / p.groups


def result_values(p: Conv) -> Number:
    """Values of the result."""
    return p.batch * p.out_height * p.out_width * p.out_channels


@held
def operand_bytes(p: Conv) -> tuple[Number, Number, Number]:
    """Bytes of the image values that are read, of the kernels and of the result."""
    rows, columns = _touched(p.height, p.kernel_h, p.out_height, p), _touched(p.width, p.kernel_w, p.out_width, p)
    image = 1.0 * p.batch * p.in_channels * rows * columns
    kernels = 1.0 * p.out_channels * p.in_channels / p.groups * p.kernel_h * p.kernel_w
    return image * p.dtype.bytes, kernels * p.dtype.bytes, result_values(p) * p.dtype.bytes


def compulsory_bytes(p: Conv) -> Number:
    """Image and kernels read once, the result written once; what no kernel position covers is not read."""
    image, kernels, result = operand_bytes(p)
    return image + kernels + result


def _touched(size: Number, kernel: Number, positions: Number, p: Conv) -> Number:
    """Values along a side that some position of the kernel reads.

    Tap r at position o reads o stride + r dilation, so (o, r) and (o + dilation / g, r - stride / g) with the greatest
    common divisor g read the same one. Padding is taken off once: where kernels do not overlap, a few too many.
    """
    divisor = common_divisor(p.stride, p.dilation)
    step, tap = p.stride / divisor, p.dilation / divisor
    twice = maximum(positions - tap, 0.0) * maximum(kernel - step, 0.0)
    return minimum(1.0 * size, maximum(positions * kernel - twice - p.padding, 1.0))


def input_reuse(p: Conv) -> Number:
    """How often the mean value of an image is used per output channel of its group."""
    return p.kernel_h * p.kernel_w * p.out_height * p.out_width / (1.0 * p.height * p.width)


def weight_reuse(p: Conv) -> Number:
    """How often each value of the kernels is used."""
    return p.batch * p.out_height * p.out_width


@held
def implicit_gemm(p: Conv) -> Gemm:
    """The matrix product of each group."""
    return product(p, p.batch * p.out_height * p.out_width, 1.0 * p.in_channels / p.groups * p.kernel_h * p.kernel_w)


def product(p: Conv, m: Number, k: Number) -> Gemm:
    """A product per group of m rows with the group's output channels, over k."""
    n, batch = 1.0 * p.out_channels / p.groups, 1.0 * p.groups
    m, n, k, batch = (value if is_array(value) else int(value) for value in (m, n, k, batch))
    return Gemm(m=m, n=n, k=k, batch=batch, dtype=p.dtype, engine=p.engine)
