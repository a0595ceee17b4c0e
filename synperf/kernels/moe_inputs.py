"""What a network sees of an expert layer beyond the demand on pipes: loads, extents, and how fixed tiles would do.

Every input is a positive ratio, or an extent or a count, which the network takes the logarithm of. The fixed tiles
stand for what a library may choose: what it does choose is not recorded in measured rows.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum, minimum
from .moe_call import FusedMoe
from .moe_layer import activation_bytes, passes, weight_bytes
from .moe_loads import loads
from .moe_power_law import BLOCKS

STEPPED = (
    "tokens", "rows", "mean_rows", "hottest", "math_over_dram", "tasks_per_sm",
    "time_16", "time_64", "fill_64", "padding_64",
)  # fmt: skip
_COLUMNS = 128  # of the fixed tiles
_NAMES = tuple((b, f"time_{b}", f"fill_{b}", f"padding_{b}") for b in BLOCKS)


def inputs(p: FusedMoe, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    own, both = loads(p), passes(p)
    found = {
        "tokens": 1.0 * p.tokens,
        "hidden": 1.0 * p.hidden,
        "rank_inter": p.inter / p.tp,
        "experts": 1.0 * p.experts,
        "rank_experts": p.experts / p.ep,
        "topk": 1.0 * p.topk,
        "tp": 1.0 * p.tp,
        "ep": 1.0 * p.ep,
        "gated": 2.0 if p.gated else 1.0,
        "rows": own.rows,
        "active": own.active,
        "active_share": own.active * p.ep / p.experts,
        "mean_rows": own.rows / own.active,
        "hottest": own.hottest,
        "hottest_over_mean": own.hottest * own.active / own.rows,
        "busiest_over_mean": own.rows * p.ep / (1.0 * p.tokens * p.topk),
    }
    rate = gpu.flop_per_clk_per_sm(p.dtype) * gpu.clock_hz * clock_share
    step_s = 2.0 * _COLUMNS / rate / base_s  # of one row of a tile and one value of k
    for block, time, fill, padding in _NAMES:
        blocks = own.tiles[block]
        busiest = [ceil_div(blocks * ceil_div(x.n, _COLUMNS), gpu.num_sms) for x in both]
        found[time] = sum(most * x.k for most, x in zip(busiest, both, strict=True)) * (block * step_s)
        found[fill] = blocks * ceil_div(both[0].n, _COLUMNS) / gpu.num_sms / busiest[0]
        found[padding] = blocks * block / own.rows
    found["hottest_time"] = own.hottest * sum(1.0 * x.n * x.k for x in both) * (2.0 / gpu.num_sms / rate / base_s)
    weights, activations = weight_bytes(p, own), activation_bytes(p, own)
    dram_s = 1.0 / gpu.dram_bytes_per_s / base_s
    found["weights"], found["activations"] = weights * dram_s, activations * dram_s
    found["weights_over_activations"] = weights / activations
    found["all_tokens"] = 1.0 * p.tokens * p.hidden * dram_s
    found["all_rows"] = 1.0 * p.tokens * p.topk * p.hidden * dram_s
    found["weights_over_l2"] = _cut(weights / gpu.l2_bytes)
    return found


def _cut(x: Number) -> Number:
    """The part where it matters whether L2 holds the weights of a routing while it is timed again and again."""
    return minimum(maximum(x, 0.1), 10.0)
