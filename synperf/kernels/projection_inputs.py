"""What a network sees of the projections around a core over latents, which MLA and sparse attention share."""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum, minimum
from .mla_module import Projection

_SIDES = (64.0, 128.0)  # of the tiles: rows, each by 128 columns
_COLUMNS = 128.0


def projection_math(parts: Sequence[Projection], gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Math of projections over the base time, at the rates of their formats and the share of the clock that the GPU
    sustains: shared evenly, and in whole tiles on the busiest SM.
    """
    clock_s = clock_share * gpu.clock_hz * base_s
    math: Number = 0.0
    tiled: dict[float, Number] = dict.fromkeys(_SIDES, 0.0)
    for x in parts:
        mac_s = 2.0 / gpu.flop_per_clk_per_sm(x.dtype) / clock_s
        math = math + x.rows * x.n * x.k * x.batch / gpu.num_sms * mac_s
        for side in _SIDES:
            busiest = ceil_div(ceil_div(x.rows, side) * ceil_div(x.n, _COLUMNS) * x.batch, gpu.num_sms)
            tiled[side] = tiled[side] + busiest * (side * _COLUMNS) * x.k * mac_s
    return {"proj_math": math, **{f"proj_time_{side:g}": found for side, found in tiled.items()}}


def projection_width(parts: Sequence[Projection]) -> float:
    """The mean width of their formats, in those of two bytes."""
    return sum(x.dtype.bytes for x in parts) / len(parts) / 2.0


def near_one(x: Number) -> Number:
    """A ratio, cut to the part where it matters on which side of 1 it is: of bytes to L2, whether they fit."""
    return minimum(maximum(x, 0.25), 4.0)
