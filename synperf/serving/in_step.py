"""How long a kernel takes among the others of an iteration, where that is not the time of one that was timed alone.

Weights and caches come out of DRAM: those of other layers have gone through L2 since. And of GPUs that nobody measured,
products follow their analytical time and what the board's power sustains, as far as math limits them: networks that
know other boards alone take the clock of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..api import family_of, predict
from ..estimators import Estimate
from ..estimators.analytical import ORIGIN as ANALYTICAL
from ..estimators.inputs import sustained
from ..hardware import GPU, DType, gpu
from ..hardware.power import Power, is_measured, power
from ..hardware.rates import rates
from ..hardware.records import measured, nearest_measured
from ..hardware.twins import kin
from ..kernels.attention_call import Attention
from ..kernels.base import Call
from ..kernels.gemm_call import Gemm
from ..kernels.gemm_tiling import choose
from ..numeric import Number, maximum, minimum, where

Predict = Callable[[Any, GPU], Estimate]
_COLD = ("gemm", "attention", "mla", "fused_moe")  # families that read weights or caches
_PRODUCTS = (Gemm, Attention)
# Times fewer FLOP per byte than any measured GPU, from where networks make reading too slow. From 1.75 on they decline:
# an RTX 3090 would take 2.2 to 2.6 times what its bandwidth allows, while two of them were measured to decode a 27B
# model in int4 at 78 tokens/s.
_ODD = 1.5
_UNMEASURED = "in a step: nobody measured this GPU; what math limits takes its analytical time, or that of its power"


def in_step(call: Call, device: GPU, estimate: Predict = predict, limits: Power | None = None) -> Estimate:
    """The estimate of a call within an iteration, from that of one timed alone.

    Raises: as `predict`.
    """
    found = estimate(call, device)
    if found.family not in _COLD:
        return found
    if isinstance(call, Gemm) and np.any(call.m == 1):
        found = _padded(call, device, found, estimate)
    w = _work(call, device, found)
    if isinstance(call, _PRODUCTS) and not is_measured(device):
        alone_s = _by_physics(call, device, found, w, limits or power())
        found = replace(_scaled(found, alone_s), assumptions=(*found.assumptions, _UNMEASURED))
    return _scaled(found, maximum(found.time_s, w.launch_s + w.dram_s))


def _padded(call: Gemm, device: GPU, found: Estimate, estimate: Predict) -> Estimate:
    """The estimate where one row takes no longer than two: an engine may pad it.

    Some kernels are two to three times slower for one row (vLLM's fp8 products on compute capability 10), which an
    engine that is made to answer one request would not leave so.
    """
    two = estimate(replace(call, m=where(call.m == 1, 2, call.m)), device)
    return _scaled(found, minimum(found.time_s, two.time_s))


class _Work(NamedTuple):
    """What a call takes at least of math and DRAM, at sustained rates, and the launch floor."""

    flop: Number
    math_s: Number
    dram_s: Number
    launch_s: float


def _work(call: Any, device: GPU, found: Estimate) -> _Work:
    kind = family_of(call)
    held, rates_of = sustained(device, found.family, found.kernel, call.dtype), rates(device, kind.math(call))
    flop = kind.flop(call)
    return _Work(
        flop=flop,
        math_s=flop / (rates_of.peak_flop_per_s * held.clock_share),
        dram_s=kind.compulsory_bytes(call) / (device.dram_bytes_per_s * held.dram_share),
        launch_s=held.launch_s,
    )


def _scaled(found: Estimate, time_s: Number) -> Estimate:
    """The estimate with another time, and its interval in proportion."""
    time_s = maximum(time_s, found.floor_s)
    ratio = time_s / found.time_s
    return replace(
        found,
        time_s=time_s,
        low_s=maximum(found.low_s * ratio, found.floor_s),
        high_s=found.high_s * ratio,
        efficiency=found.efficiency / ratio,
    )


def _by_physics(call: Any, device: GPU, found: Estimate, w: _Work, limits: Power) -> Number:
    """The time as far as math limits it by the analytical estimate and by power, else by the network's."""
    most_flop_per_s, is_learned = limits.flop_per_s(device, call.dtype), np.any(found.origin != ANALYTICAL)
    is_odd = device.ridge_flop_per_byte(call.dtype) * _ODD < _least_ridge(call.dtype)
    if most_flop_per_s is None and is_learned and not is_odd:
        return found.time_s
    alone_s = predict(_as_kin(call, device), device, origin=ANALYTICAL).time_s / limits.efficiency
    if most_flop_per_s is not None:
        alone_s = maximum(alone_s, w.flop / most_flop_per_s)
    if is_odd or not is_learned:
        return alone_s
    share = w.math_s**2 / (w.math_s**2 + w.dram_s**2)
    return found.time_s ** (1 - share) * alone_s**share


@cache
def _least_ridge(dtype: DType) -> float:
    """FLOP per byte of DRAM of the measured GPU that has the fewest; 0 where none has the format."""
    known = [one for one in map(gpu, measured()) if dtype.rate in one.dtypes()]
    return min((one.ridge_flop_per_byte(dtype) for one in known), default=0.0)


def _as_kin(call: Any, device: GPU) -> Any:
    """The call with the tiles that a measured GPU takes which runs the same kernels: libraries choose alike on both."""
    if not isinstance(call, Gemm) or call.tile_m is not None:
        return call
    other = nearest_measured(device)
    if not other or kin(gpu(other).compute_capability) != kin(device.compute_capability):
        return call
    chosen = choose(call, gpu(other))
    return replace(call, tile_m=chosen.tile_m, tile_n=chosen.tile_n, tile_k=chosen.tile_k)
