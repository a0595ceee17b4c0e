"""What a network sees of a GEMM beyond the demand on pipes: extents, alignment, and how fixed tiles fill the GPU.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. The fixed tiles stand for what
a library may choose: what it does choose is not recorded in measured rows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..hardware import GPU, DType
from ..hardware.rates import rates
from ..numeric import Number, ceil_div, ceil_of, minimum
from .dispatch import Timed, default_engine, timed
from .gemm_call import Gemm
from .gemm_costs import operand_value_bytes

TILES = ((16, 64), (32, 128), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
STEPPED = (
    "m", "n", "k", "math_over_dram", "tasks_per_sm", "time_128x128",
    "fill_64x64", "fill_128x128", "fill_128x256", "fill_256x128",
)  # fmt: skip
SIZES = ("m", "tasks_per_sm", "sm_max_tasks", "base_over_launch", "working_set")  # that grow without end
EXTENTS = ("n", "k")
BATCHED = "batched"
MOST_ALIGNED = 128  # a power of two that no load or tile asks more than
_SIDES_M, _SIDES_N = (sorted(set(sides)) for sides in zip(*TILES, strict=True))
_TILES = [  # places of the sides, values of C, and names, made once
    (_SIDES_M.index(m), _SIDES_N.index(n), float(m * n), f"time_{m}x{n}", f"fill_{m}x{n}") for m, n in TILES
]


def inputs(p: Gemm, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    m, n, k, batch, num_sms = p.m, p.n, p.k, p.batch, gpu.num_sms
    found = {"m": 1.0 * m, "n": 1.0 * n, "k": 1.0 * k}
    step_s = 2.0 * k / (rates(gpu, p.dtype).math_flop_per_s * clock_share) / base_s  # of one value of C
    up = ceil_of(m, n, batch)
    rows, columns = [up(m / tile_m) * batch for tile_m in _SIDES_M], [up(n / tile_n) for tile_n in _SIDES_N]
    for row, column, area, time, fill in _TILES:
        per_sm = rows[row] * columns[column] / num_sms
        waves = up(per_sm)
        found[time] = waves * area * step_s
        found[fill] = per_sm / waves
    found["weights_in_turn"], found["bytes_in_turn"] = _in_turn(p, gpu)
    found["aligned_m"], found["aligned_n"], found["aligned_k"] = _aligned(m), _aligned(n), _aligned(k)
    return found


def variant(p: Gemm) -> str | np.ndarray:
    """`BATCHED` for several products at once in fp32, for which libraries have other kernels, and whose rows have both.

    Nobody measured several in another format.
    """
    if p.dtype is not DType.FP32:
        return ""
    if type(p.batch) is np.ndarray:
        return np.where(p.batch > 1, BATCHED, "")
    return BATCHED if p.batch > 1 else ""


def sizes(p: Gemm) -> tuple[str, ...]:
    """Inputs that a network for fp32 does not see, of which far larger products are asked for than were measured."""
    if p.dtype is not DType.FP32:
        return ()
    return (*SIZES, *EXTENTS) if np.any(variant(p) == BATCHED) else SIZES


def of_gpus(p: Gemm) -> tuple[str, ...]:
    """Inputs that a network for fp32 which knows no GPU does not see: how far a GPU slows as they grow is its own."""
    return EXTENTS if p.dtype is DType.FP32 else ()


def _in_turn(p: Gemm, gpu: GPU) -> tuple[Number, Number]:
    """What takes turns in L2 while rows are timed, over L2: all copies of the weights alone, and with A and C.

    Rows below 1 were timed with their weights in L2, rows above it out of DRAM. Cut to the part where that changes.
    """
    how, (a_bytes, b_bytes, c_bytes) = _timed(p.engine, p.dtype, p.out_dtype, gpu.compute_capability)
    m, n, k, batch, l2_bytes = p.m, p.n, p.k, p.batch, gpu.l2_bytes
    weights = batch * (b_bytes * k * n)
    copies = minimum(ceil_div(l2_bytes, weights), how.copies) if how.fills_l2 else how.copies
    in_turn = copies * weights
    once = batch * (a_bytes * m * k + c_bytes * m * n)
    return _cut(in_turn / l2_bytes), _cut((in_turn + once) / l2_bytes)


@lru_cache(maxsize=256)
def _timed(
    engine: str | None, dtype: DType, out_dtype: DType | None, compute_capability: str
) -> tuple[Timed, tuple[float, float, float]]:
    """How the engine's rows were timed, and bytes of one value of A, of B and of C."""
    engine = engine or default_engine("gemm", dtype, compute_capability)
    return timed(engine, dtype), operand_value_bytes(dtype, out_dtype)


def _cut(x: Number) -> Number:
    if type(x) is np.ndarray:
        return np.minimum(np.maximum(x, 0.5), 2.0)
    return 0.5 if x < 0.5 else min(x, 2.0)


def _aligned(x: Number) -> Number:
    """The largest power of two that divides `x`, up to `MOST_ALIGNED`."""
    if type(x) is np.ndarray:
        whole = x.astype(np.int64)
        return np.minimum(whole & -whole, MOST_ALIGNED).astype(np.float64)
    divisor = x & -x
    return float(divisor if divisor < MOST_ALIGNED else MOST_ALIGNED)
