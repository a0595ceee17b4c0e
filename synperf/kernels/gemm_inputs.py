"""What a network sees of a GEMM beyond the demand on pipes: extents, alignment, and how fixed tiles fill the GPU.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. The fixed tiles stand for what
a library may choose: what it does choose is not recorded in measured rows.
"""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div
from .gemm_call import Gemm
from .gemm_costs import value_bytes

TILES = ((16, 64), (32, 128), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
PADS = {"m": (16, 32, 64, 128, 256), "n": (64, 128, 256)}
_TILES = tuple((m, n, f"time_{m}x{n}", f"fill_{m}x{n}") for m, n in TILES)  # names made once
_PADS = {axis: tuple((to, f"pad_{axis}_{to}") for to in sizes) for axis, sizes in PADS.items()}
MOST_ALIGNED = 128  # a power of two that no load or tile asks more than


def inputs(p: Gemm, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    a_bytes, b_bytes = value_bytes(p.dtype)
    assert p.out_dtype is not None
    m, n, k = 1.0 * p.m, 1.0 * p.n, 1.0 * p.k
    found = {"m": m, "n": n, "k": k, "mn": m * n, "m_over_n": m / n}
    found |= {"a_over_l2": m * k * a_bytes / gpu.l2_bytes, "b_over_l2": n * k * b_bytes / gpu.l2_bytes}
    found["c_over_l2"] = m * n * p.out_dtype.bytes / gpu.l2_bytes
    step_s = 2.0 * k / (gpu.flop_per_clk_per_sm(p.dtype) * gpu.clock_hz * clock_share)  # of one value of C
    for tile_m, tile_n, time, fill in _TILES:
        tiles = ceil_div(m, tile_m) * ceil_div(n, tile_n) * p.batch
        waves = ceil_div(tiles, gpu.num_sms)
        found[time] = waves * (tile_m * tile_n) * step_s / base_s
        found[fill] = tiles / gpu.num_sms / waves
    for name, x in (("m", m), ("n", n)):
        found |= {padded: ceil_div(x, to) * to / x for to, padded in _PADS[name]}
    found |= {"aligned_m": _aligned(p.m), "aligned_n": _aligned(p.n), "aligned_k": _aligned(p.k)}
    return found


def _aligned(x: Number) -> Number:
    """The largest power of two that divides `x`, up to `MOST_ALIGNED`."""
    if type(x) is np.ndarray:
        whole = x.astype(np.int64)
        return np.minimum(whole & -whole, MOST_ALIGNED).astype(np.float64)
    return float(min(int(x) & -int(x), MOST_ALIGNED))
