"""What a network sees of a convolution: the tiles of the algorithms that a library may choose, and its extents.

Which one it does choose is in no row that a call could be compared with, so all stand side by side: implicit GEMM,
Winograd's F(4x4) by one product for each of its points, and its fused form, whose CTAs have a block of one image.
Source: Lavin and Gray, arXiv 1509.09308; grids of cuDNN 8.9's `winograd_128x128_ldg*` kernels in NeuSight's rows.
"""

from __future__ import annotations

from ..hardware import GPU
from ..hardware.rates import rates
from ..numeric import Number, ceil_div
from . import gemm_inputs
from .conv_call import Conv
from .conv_work import compulsory_bytes, implicit_gemm, operand_bytes, product
from .gemm_inputs import STEPPED as _STEPPED
from .gemm_inputs import TILES

EDGE = 4  # of the tiles of a result that Winograd's algorithm computes at once
_BLOCKS = ((8, 16, 32), (4, 16, 64))  # rows, columns and channels of a result that a CTA of the fused form has
_STATE = ("weights_in_turn", "bytes_in_turn")  # of GEMM rows: how weights took turns while they were timed
_BY_POINTS = tuple(f"{kind}_{m}x{n}" for m, n in TILES for kind in ("time", "fill"))
STEPPED = (
    *_STEPPED, *(f"points_{name}" for name in ("fill_64x64", "fill_128x128", "time_64x64", "time_128x128")),
    *(f"fused_fill_{rows}x{columns}" for rows, columns, _ in _BLOCKS), *(f"fused_{rows}x{columns}" for rows, columns, _ in _BLOCKS),
    "batch", "in_channels", "out_channels", "out_height", "out_width", "points_m",
)  # fmt: skip


def inputs(p: Conv, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    found = gemm_inputs.inputs(implicit_gemm(p), gpu, base_s, clock_share)
    for name in _STATE:
        del found[name]
    found |= {
        "batch": 1.0 * p.batch,
        "in_channels": 1.0 * p.in_channels,
        "out_channels": 1.0 * p.out_channels,
        "groups": 1.0 * p.groups,
        "out_height": p.out_height,
        "out_width": p.out_width,
        "taps": 1.0 * p.kernel_h * p.kernel_w,
        "stride": 1.0 * p.stride,
        "gathered": _gathered(p),
    }
    return found | _by_points(p, gpu, base_s, clock_share) | _fused(p, gpu, base_s, clock_share)


def _gathered(p: Conv) -> Number:
    """Values of A per value of the image."""
    g, (image, _, _) = implicit_gemm(p), operand_bytes(p)
    return 1.0 * g.m * g.k * g.batch * p.dtype.bytes / image


def _points(p: Conv) -> Number:
    """Products that Winograd's algorithm takes per tile and pair of channels."""
    return (EDGE - 1.0 + p.kernel_h) * (EDGE - 1.0 + p.kernel_w)


def _by_points(p: Conv, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """A product of tiles by channels for each point, and what lies between its launches and those of the transforms."""
    points, tiles = _points(p), p.batch * ceil_div(p.out_height, EDGE) * ceil_div(p.out_width, EDGE)
    one = product(p, tiles, 1.0 * p.in_channels / p.groups)
    seen = gemm_inputs.inputs(one, gpu, base_s, clock_share)
    found = {f"points_{name}": seen[name] for name in _BY_POINTS}
    per_point = rates(gpu, p.dtype).math_flop_per_s * clock_share * gpu.num_sms
    channels = tiles * (1.0 * p.in_channels + p.out_channels) + 1.0 * p.in_channels / p.groups * p.out_channels
    moved = compulsory_bytes(p) + 2.0 * points * channels * p.dtype.bytes
    found |= {
        "points_m": 1.0 * one.m,
        "points_math": 2.0 * points * one.m * one.n * one.k * one.batch / per_point / base_s,
        "points_dram": moved / gpu.dram_bytes_per_s / base_s,
        "points_over_l2": moved / gpu.l2_bytes,
    }
    return found


def _fused(p: Conv, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    found: dict[str, Number] = {}
    one_s = 2.0 * p.in_channels / p.groups / (rates(gpu, p.dtype).math_flop_per_s * clock_share) / base_s
    for rows, columns, channels in _BLOCKS:
        blocks = ceil_div(p.out_height, rows) * ceil_div(p.out_width, columns) * ceil_div(p.out_channels, channels)
        per_sm = 1.0 * p.batch * blocks / gpu.num_sms
        waves = ceil_div(per_sm, 1.0)
        name = f"{rows}x{columns}"
        found[f"fused_{name}"] = waves * rows * columns * channels * one_s
        found[f"fused_fill_{name}"] = per_sm / waves
    return found
