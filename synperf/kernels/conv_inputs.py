"""What a network sees of a convolution: the tiles of the algorithms that a library may choose, and its extents.

Which one it does choose is in no field of a call, so all stand side by side: implicit GEMM, Winograd's F(4x4) by one
product for each of its points, and F(2x2) in one kernel, whose CTAs have a block of one or several images.
Source: Lavin and Gray, arXiv 1509.09308; names and grids of cuDNN 8.9's kernels in NeuSight's rows (`128x64_relu`,
`sgemm_64x64`, `winograd_128x128_ldg1_ldg4_relu_tile148t`: 1 image, 4 x 8 tiles of it, 32 channels).
"""

from __future__ import annotations

from functools import reduce

from ..hardware import GPU
from ..hardware.rates import rates
from ..numeric import Number, ceil_div, minimum, round_up
from .conv_call import Conv
from .conv_work import compulsory_bytes, implicit_gemm, operand_bytes

_IMPLICIT = ((128, 32), (128, 64), (128, 128))
_BY_POINTS = ((32, 128), (64, 64), (128, 32), (128, 64), (128, 128))
_FUSED = (
    (1, 4, 8),
    (2, 4, 4),
    (4, 4, 2),
    (2, 2, 8),
    (4, 2, 4),
    (4, 1, 8),
)  # images, and tiles down and across of a CTA
_FUSED_CHANNELS = 32
_LARGE, _SMALL = 4, 2  # edge of the part of a result that comes of one of Winograd's tiles
_IMAGES = 16  # images are transformed in such numbers: the grids of 36 products have round_up(batch, 16) x tiles rows
_STEP = 8.0  # input channels that are loaded at once
STEPPED = (
    "math_over_dram", "tasks_per_sm", "batch", "in_channels", "out_channels", "out_height", "out_width", "points_m",
    *(f"implicit_fill_{m}x{n}" for m, n in _IMPLICIT), *(f"points_fill_{m}x{n}" for m, n in _BY_POINTS),
    "fused_fill", "fused_rounds", "fused_padding",
)  # fmt: skip


def inputs(p: Conv, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    product, (image, kernels, _) = implicit_gemm(p), operand_bytes(p)
    mac_s = 2.0 / (rates(gpu, p.dtype).math_flop_per_s * clock_share) / base_s
    found = {
        "batch": 1.0 * p.batch,
        "in_channels": 1.0 * p.in_channels,
        "out_channels": 1.0 * p.out_channels,
        "groups": 1.0 * p.groups,
        "out_height": p.out_height,
        "out_width": p.out_width,
        "taps": 1.0 * p.kernel_h * p.kernel_w,
        "stride": 1.0 * p.stride,
        "gathered": 1.0 * product.m * product.k * product.batch * p.dtype.bytes / image,
        "kernels": kernels / gpu.dram_bytes_per_s / base_s,
        "implicit_m": 1.0 * product.m,
        "k_padding": round_up(1.0 * p.in_channels / p.groups, _STEP) * p.groups / p.in_channels,
    }
    found |= _tiles("implicit", product.m, product.n, product.batch, product.k * mac_s, gpu, _IMPLICIT)
    return found | _by_points(p, gpu, base_s, mac_s) | _fused(p, gpu, mac_s)


def _tiles(
    what: str, m: Number, n: Number, batch: Number, value_s: Number, gpu: GPU, tiles: tuple[tuple[int, int], ...]
) -> dict[str, Number]:
    """Time of the busiest SM and filling of the last wave, with tiles of each size; `value_s` is that of one value."""
    found: dict[str, Number] = {}
    for tile_m, tile_n in tiles:
        per_sm = ceil_div(m, tile_m) * ceil_div(n, tile_n) * batch / gpu.num_sms
        waves = ceil_div(per_sm, 1.0)
        found[f"{what}_time_{tile_m}x{tile_n}"] = waves * (tile_m * tile_n) * value_s
        found[f"{what}_fill_{tile_m}x{tile_n}"] = per_sm / waves
    return found


def _points(p: Conv, edge: int) -> Number:
    """Products that Winograd's algorithm takes per tile and pair of channels."""
    return (edge - 1.0 + p.kernel_h) * (edge - 1.0 + p.kernel_w)


def _by_points(p: Conv, gpu: GPU, base_s: Number, mac_s: Number) -> dict[str, Number]:
    """A product of tiles by channels for each point, and what lies between its launch and those of the transforms."""
    tiles = ceil_div(p.out_height, _LARGE) * ceil_div(p.out_width, _LARGE)
    points, m = _points(p, _LARGE), round_up(p.batch, _IMAGES) * tiles
    k, n = 1.0 * p.in_channels / p.groups, 1.0 * p.out_channels / p.groups
    between = 2.0 * points * p.groups * (m * (k + n) + k * n) * p.dtype.bytes
    found = {
        "points_m": m,
        "points_math": points * p.groups * m * n * k * mac_s / gpu.num_sms,
        "points_dram": (compulsory_bytes(p) + between) / gpu.dram_bytes_per_s / base_s,
        "points_over_l2": between / gpu.l2_bytes,
    }
    return found | _tiles("points", m, n, points * p.groups, k * mac_s, gpu, _BY_POINTS)


def _fused(p: Conv, gpu: GPU, mac_s: Number) -> dict[str, Number]:
    """CTAs of the block that needs fewest, of which those of one block do."""
    channels, down, across = (
        ceil_div(p.out_channels, _FUSED_CHANNELS), ceil_div(p.out_height, _SMALL), ceil_div(p.out_width, _SMALL)
    )  # fmt: skip
    blocks = [ceil_div(p.batch, images) * ceil_div(down, h) * ceil_div(across, w) for images, h, w in _FUSED]
    least = reduce(minimum, blocks)
    per_sm = least * channels / gpu.num_sms
    rounds = ceil_div(per_sm, 1.0)
    images, h, w = _FUSED[0]
    tiles = float(images * h * w)
    one_s = tiles * _FUSED_CHANNELS * _points(p, _SMALL) * round_up(1.0 * p.in_channels / p.groups, _STEP) * mac_s
    return {
        "fused_rounds": rounds,
        "fused_fill": per_sm / rounds,
        "fused_time": rounds * one_s,
        "fused_mean": per_sm * one_s,
        "fused_padding": least * tiles / (p.batch * down * across),
        "fused_first_over_least": blocks[0] / least,
    }
