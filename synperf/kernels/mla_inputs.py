"""What a network sees of MLA beyond the demand on pipes: lengths, tiles of the core, traffic, split, projections.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. Times are over the base time.
"""

from __future__ import annotations

from ..hardware import GPU, DType
from ..numeric import Number, ceil_div
from . import mla_core, mla_module
from .attention_call import Attention
from .attention_requests import Requests, pairs
from .attention_split import num_splits
from .attention_tiles import Tiling, steps
from .attention_work import RESCALE_FLOP, SCORE_FLOP
from .mla_call import Mla
from .mla_traits import mla_kernel
from .projection_inputs import near_one, projection_math, projection_width

STEPPED = ("time_16x64", "time_64x64", "time_128x128", "fill_64x64", "fill_128x128", "splits", "split_fill", "kv_in_l2")
_TILES = tuple((float(q), float(kv), f"{q}x{kv}") for q, kv in ((16, 64), (64, 64), (128, 128)))


def inputs(p: Mla, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    k = mla_kernel(p, gpu)
    a, w = mla_core.as_attention(p, k.prefill), mla_core.work(p, gpu, k)
    r, one = w.requests, 1.0 + 0.0 * base_s
    met, sm_s = pairs(a, r), 1.0 / (gpu.clock_hz * clock_share * base_s)  # a clock, over the base time
    found = {
        "batch": r.count * one,
        "q_len": r.q * one,
        "kv_len": r.kv * one,
        "heads": 1.0 * p.heads * one,
        "rank": 1.0 * p.kv_lora_rank * one,
        "rope": 1.0 * p.rope_dim * one,
        "rows": r.q * p.heads * one,
        "queries": r.count * r.q * one,
        "masked": met / (r.count * r.q * r.kv) * one,
        "kv_width": mla_core.cached_bytes(p) / (p.kv_lora_rank + p.rope_dim) / p.dtype.bytes * one,
    }
    pair_s = sm_s * 2.0 * (a.head_dim + a.v_head_dim) / gpu.flop_per_clk_per_sm(p.dtype)
    found |= _tiles(a, r, gpu, pair_s)
    fma, scores = gpu.fma_flop_per_clk_per_sm[DType.FP32], met * p.heads / gpu.num_sms
    found["core_math"] = scores * pair_s
    found["exp"] = scores / gpu.xu_op_per_clk_per_sm * sm_s
    found["softmax"] = scores * SCORE_FLOP / fma * sm_s
    found["rescale"] = w.busiest * w.tiling.rows * w.tiling.v_head_dim * RESCALE_FLOP / fma * sm_s
    found |= _traffic(p, a, gpu, base_s)
    blocks = w.steps.longest
    splits = num_splits(w.tiles, gpu.num_sms, blocks)
    waves = ceil_div(w.tiles * splits, gpu.num_sms)
    found["splits"] = splits * one
    found["chunk"] = ceil_div(blocks, splits) * w.step.slowest_s / clock_share / base_s
    found["split_waves"] = waves * one
    found["split_fill"] = w.tiles * splits / gpu.num_sms / waves * one
    found["tile_fill"] = w.fill_s / base_s
    found["imbalance"] = w.busiest * gpu.num_sms / w.total_steps * one
    if p.is_module:
        found |= _module(p, gpu, base_s, clock_share)
    return found


def _tiles(a: Attention, r: Requests, gpu: GPU, pair_s: Number) -> dict[str, Number]:
    """Time of the mean SM with fixed tiles, and how full their last wave is."""
    found: dict[str, Number] = {}
    group = a.heads / a.kv_heads
    for rows, columns, name in _TILES:
        t = Tiling(
            rows=rows, columns=columns, packed=group, heads=a.kv_heads, head_dim=a.head_dim, v_head_dim=a.v_head_dim
        )
        s = steps(a, r, t)
        per_sm = r.count * s.tiles * a.kv_heads / gpu.num_sms
        found[f"time_{name}"] = r.count * s.total * a.kv_heads * (rows * columns / gpu.num_sms) * pair_s
        found[f"fill_{name}"] = per_sm / ceil_div(per_sm, 1.0) + 0.0 * pair_s
    return found


def _traffic(p: Mla, a: Attention, gpu: GPU, base_s: Number) -> dict[str, Number]:
    """DRAM time of keys, of Q and O and of new tokens; what L2 holds while a call is timed again and again."""
    dram, l2 = gpu.dram_bytes_per_s * base_s, gpu.l2_bytes
    compulsory, tokens = mla_core.compulsory_bytes(p), 1.0 * p.batch * p.kv_len
    per_token = mla_core.cached_bytes(p)
    if not p.absorbed:
        per_token = a.kv_heads * (a.head_dim + a.v_head_dim) * a.dtype.bytes
    return {
        "kv": tokens * per_token / dram,
        "core": compulsory / dram,
        "append": 1.0 * p.batch * p.q_len * mla_core.cached_bytes(p) / dram,
        "kv_in_l2": near_one(tokens * per_token / l2) + 0.0 * base_s,
        "core_in_l2": near_one(compulsory / l2) + 0.0 * base_s,
    }


def _module(p: Mla, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Math of the projections at the rates of their formats, in whole tiles too; their weights, what lies between."""
    parts = mla_module.projections(p)
    dram = gpu.dram_bytes_per_s * base_s
    handed = mla_module.handed_bytes(p)
    return {
        **projection_math(parts, gpu, base_s, clock_share),
        "proj_weights": mla_module.weight_bytes(p) / dram,
        "proj_width": projection_width(parts) + 0.0 * base_s,
        "handed": handed / dram,
        "handed_in_l2": near_one(handed / gpu.l2_bytes) + 0.0 * base_s,
        "side": mla_module.side_bytes(p) / dram,
    }
