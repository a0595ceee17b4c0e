"""What a network sees of a GEMM beyond the demand on pipes: extents, alignment, and how fixed tiles fill the GPU.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. The fixed tiles stand for what
a library may choose: what it does choose is not recorded in measured rows.
"""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div
from .gemm_call import Gemm

TILES = ((16, 64), (32, 128), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
MOST_ALIGNED = 128  # a power of two that no load or tile asks more than
_TILES = tuple((m, n, f"time_{m}x{n}", f"fill_{m}x{n}") for m, n in TILES)  # names made once


def inputs(p: Gemm, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    m, n, k = 1.0 * p.m, 1.0 * p.n, 1.0 * p.k
    found = {"m": m, "n": n, "k": k}
    step_s = 2.0 * k / (gpu.flop_per_clk_per_sm(p.dtype) * gpu.clock_hz * clock_share) / base_s  # of one value of C
    for tile_m, tile_n, time, fill in _TILES:
        per_sm = ceil_div(m, tile_m) * ceil_div(n, tile_n) * p.batch / gpu.num_sms
        waves = ceil_div(per_sm, 1.0)
        found[time] = waves * (tile_m * tile_n) * step_s
        found[fill] = per_sm / waves
    found["aligned_m"], found["aligned_n"], found["aligned_k"] = _aligned(p.m), _aligned(p.n), _aligned(p.k)
    return found


def _aligned(x: Number) -> Number:
    """The largest power of two that divides `x`, up to `MOST_ALIGNED`."""
    if type(x) is np.ndarray:
        whole = x.astype(np.int64)
        return np.minimum(whole & -whole, MOST_ALIGNED).astype(np.float64)
    return float(min(int(x) & -int(x), MOST_ALIGNED))
