"""What a network sees of a grouped GEMM beyond the demand on pipes: how rows fall on groups, and extents."""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div
from .gemm_costs import value_bytes
from .grouped_gemm_call import GroupedGemm
from .moe_loads import of_busiest_rank
from .moe_power_law import BLOCKS

_COLUMNS = 128  # of the fixed tiles


def inputs(p: GroupedGemm, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    own, (_, b_bytes) = of_busiest_rank(p.m_per_group), value_bytes(p.dtype)
    rate = gpu.flop_per_clk_per_sm(p.dtype) * gpu.clock_hz * clock_share
    found = {
        "n": 1.0 * p.n,
        "k": 1.0 * p.k,
        "rows": own.rows,
        "groups": float(len(p.m_per_group)),
        "active": own.active,
        "mean_rows": own.rows / own.active,
        "hottest": own.hottest,
        "hottest_over_mean": own.hottest * own.active / own.rows,
        "weights": own.active * (1.0 * p.n * p.k) * b_bytes / gpu.dram_bytes_per_s / base_s,
        "hottest_time": 2.0 * own.hottest * p.n * p.k / gpu.num_sms / rate / base_s,
    }
    for block in BLOCKS:
        per_sm = own.tiles[block] * ceil_div(p.n, _COLUMNS) / gpu.num_sms
        busiest = ceil_div(per_sm, 1.0)
        found[f"time_{block}"] = busiest * p.k * (block * 2.0 * _COLUMNS / rate / base_s)
        found[f"fill_{block}"] = per_sm / busiest
        found[f"padding_{block}"] = own.tiles[block] * block / own.rows
    return found
