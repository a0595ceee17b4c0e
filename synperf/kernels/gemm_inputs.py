"""What a network sees of a GEMM beyond the demand on pipes: extents, alignment, and how fixed tiles fill the GPU.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. The fixed tiles stand for what
a library may choose: what it does choose is not recorded in measured rows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..hardware import GPU, DType
from ..hardware.rates import rates
from ..numeric import Number, ceil_div, ceil_of, maximum, minimum
from .dispatch import Timed, default_engine, timed
from .gemm_call import Gemm
from .gemm_costs import value_bytes

TILES = ((16, 64), (32, 128), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
STEPPED = (
    "m", "n", "k", "math_over_dram", "tasks_per_sm", "time_128x128",
    "fill_64x64", "fill_128x128", "fill_128x256", "fill_256x128",
)  # fmt: skip
MOST_ALIGNED = 128  # a power of two that no load or tile asks more than
_TILES = tuple((m, n, float(m * n), f"time_{m}x{n}", f"fill_{m}x{n}") for m, n in TILES)  # names made once
_SIDES_M, _SIDES_N = (tuple(sorted(set(sides))) for sides in zip(*TILES, strict=True))


def inputs(p: Gemm, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    m, n, k = 1.0 * p.m, 1.0 * p.n, 1.0 * p.k
    found = {"m": m, "n": n, "k": k}
    step_s = 2.0 * k / (rates(gpu, p.dtype).math_flop_per_s * clock_share) / base_s  # of one value of C
    up = ceil_of(m, n, p.batch)
    rows = {tile_m: up(m / tile_m) for tile_m in _SIDES_M}
    columns = {tile_n: up(n / tile_n) for tile_n in _SIDES_N}
    for tile_m, tile_n, area, time, fill in _TILES:
        per_sm = rows[tile_m] * columns[tile_n] * p.batch / gpu.num_sms
        waves = up(per_sm)
        found[time] = waves * area * step_s
        found[fill] = per_sm / waves
    found |= _in_turn(p, gpu)
    found["aligned_m"], found["aligned_n"], found["aligned_k"] = _aligned(p.m), _aligned(p.n), _aligned(p.k)
    return found


def _in_turn(p: Gemm, gpu: GPU) -> dict[str, Number]:
    """What takes turns in L2 while rows are timed, over L2: all copies of the weights alone, and with A and C.

    Rows below 1 were timed with their weights in L2, rows above it out of DRAM. Cut to the part where that changes.
    """
    how, (a_bytes, b_bytes) = _timed(p.engine, p.dtype, gpu.compute_capability)
    assert p.out_dtype is not None
    weights, l2_bytes = p.batch * (b_bytes * p.k * p.n), gpu.l2_bytes
    copies = minimum(ceil_div(l2_bytes, weights), how.copies) if how.fills_l2 else how.copies
    once = p.batch * (a_bytes * p.m * p.k + p.out_dtype.bytes * p.m * p.n)
    in_turn = copies * weights
    return {"weights_in_turn": _cut(in_turn / l2_bytes), "bytes_in_turn": _cut((in_turn + once) / l2_bytes)}


@lru_cache(maxsize=256)
def _timed(engine: str | None, dtype: DType, compute_capability: str) -> tuple[Timed, tuple[float, float]]:
    """How the engine's rows were timed, and bytes of one value of A and of B."""
    return timed(engine or default_engine("gemm", dtype, compute_capability), dtype), value_bytes(dtype)


def _cut(x: Number) -> Number:
    return minimum(maximum(x, 0.5), 2.0)


def _aligned(x: Number) -> Number:
    """The largest power of two that divides `x`, up to `MOST_ALIGNED`."""
    if type(x) is np.ndarray:
        whole = x.astype(np.int64)
        return np.minimum(whole & -whole, MOST_ALIGNED).astype(np.float64)
    divisor = x & -x
    return float(divisor if divisor < MOST_ALIGNED else MOST_ALIGNED)
