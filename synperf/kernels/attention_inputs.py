"""What a network sees of attention beyond the demand on pipes: lengths, padding to fixed tiles, imbalance, split, L2.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. Times are over the base time.
Fixed tiles stand for what a kernel may choose; the heads that share K and V are packed into their rows.
"""

from __future__ import annotations

from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, maximum, minimum, where
from .attention_call import Attention
from .attention_requests import Requests, keys_seen, pairs
from .attention_split import num_splits
from .attention_tiles import Tiling, steps
from .attention_work import RESCALE_FLOP, SCORE_FLOP, Work, kv_bytes, may_split, out_bytes, work

STEPPED = (
    "requests", "q_len", "kv_len", "math_over_dram", "tasks_per_sm", "longest_64x64",
    "fill_64x64", "fill_128x128", "chunk", "split_fill",
)  # fmt: skip
TILES = ((16, 64), (64, 64), (128, 128))
_TILES: tuple[tuple[float, float, str, str, str], ...] = tuple(
    (float(q), float(kv), f"time_{q}x{kv}", f"fill_{q}x{kv}", f"longest_{q}x{kv}") for q, kv in TILES
)


def inputs(p: Attention, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    w = work(p, gpu)
    r, clock_hz = w.requests, gpu.clock_hz * clock_share
    met, q, kv = pairs(p, r), r.mean(r.q), r.mean(r.kv)
    one = 1.0 + 0.0 * base_s
    found = {
        "requests": r.total(1.0) * one,
        "q_len": q * one,
        "kv_len": kv * one,
        "longest_kv": r.most(r.kv) / kv * one,
        "heads": 1.0 * p.heads * one,
        "kv_heads": 1.0 * p.kv_heads * one,
        "group": p.heads / p.kv_heads * one,
        "windowed": (1.0 + 1.0 * (p.window > 0)) * one,
        "alone": (1.0 + 1.0 * (w.tiling.packed <= 1.0)) * one,
        "one_key": (1.0 + 1.0 * (r.most(r.kv) <= 1.0)) * one,
        "unpacked": where(_packs(p, w), w.tiling.heads / p.kv_heads, p.heads / p.kv_heads) * one,
        "head_dim": 1.0 * p.head_dim * one,
        "v_head_dim": 1.0 * p.v_head_dim * one,
        "masked": met / r.total(r.q * r.kv) * one,
        "seen": r.mean(keys_seen(p, r)) / kv * one,
        "page": (1.0 if p.page_size is None else 1.0 * p.page_size) * one,
        "kv_width": kv_bytes(p) / p.dtype.bytes * one,
    }
    sm_s = 1.0 / (clock_hz * base_s)  # a clock, over the base time
    found |= _tiles(p, r, gpu, sm_s * 2.0 * (p.head_dim + p.v_head_dim) / gpu.flop_per_clk_per_sm(p.dtype))
    scores = met * p.heads / gpu.num_sms
    fma = gpu.fma_flop_per_clk_per_sm[DType.FP32]
    found["exp"] = scores / gpu.xu_op_per_clk_per_sm * sm_s
    found["exp_sm_max"] = w.busiest * w.step.xu_op / gpu.xu_op_per_clk_per_sm * sm_s
    found["fma_sm_max"] = w.busiest * w.step.fma_flop / fma * sm_s
    found["softmax"] = scores * SCORE_FLOP / fma * sm_s
    found["rescale"] = w.busiest * w.tiling.rows * w.tiling.v_head_dim * RESCALE_FLOP / fma * sm_s
    found |= _traffic(p, gpu, r, base_s)
    blocks = r.most(w.steps.longest)
    splits = where(may_split(p, w.traits, w.tiling), num_splits(w.tiles, gpu.num_sms, blocks), 1.0)
    chunk = ceil_div(blocks, splits)
    waves = ceil_div(w.tiles * splits, gpu.num_sms)
    found["splits"] = splits * one
    found["chunk"] = chunk * w.step.slowest_s / clock_share / base_s
    found["split_waves"] = waves * one
    found["split_fill"] = w.tiles * splits / gpu.num_sms / waves * one
    found["tile_fill"] = w.fill_s / base_s
    found["imbalance"] = w.busiest * gpu.num_sms / w.total_steps * one
    return found


def _packs(p: Attention, w: Work) -> Number:
    """Whether heads that share K and V share tiles where the tiling says so: under a window not with every kernel."""
    return w.traits.packs_always | (p.window == 0)


def _tiles(p: Attention, r: Requests, gpu: GPU, pair_s: Number) -> dict[str, Number]:
    """Time of the mean SM with fixed tiles, how full their last wave is, and the longest over the mean tile's share."""
    group = p.heads / p.kv_heads
    found: dict[str, Number] = {}
    for rows, columns, time, fill, longest in _TILES:
        t = Tiling(
            rows=rows, columns=columns, packed=group, heads=p.kv_heads, head_dim=p.head_dim, v_head_dim=p.v_head_dim
        )
        s = steps(p, r, t)
        tiles, total = r.total(s.tiles) * p.kv_heads, r.total(s.total) * p.kv_heads
        per_sm = tiles / gpu.num_sms
        found[time] = total * (rows * columns / gpu.num_sms) * pair_s
        found[fill] = per_sm / ceil_div(per_sm, 1.0) + 0.0 * pair_s
        found[longest] = r.most(s.longest) * tiles / total + 0.0 * pair_s
    return found


def _traffic(p: Attention, gpu: GPU, r: Requests, base_s: Number) -> dict[str, Number]:
    """DRAM time of K and V, of Q and O, of the new keys; and what L2 holds while a call is timed again and again.

    Rows were timed with the same K and V over and over, so that they stay in L2 where they fit. Cut to the part where
    that changes.
    """
    per_key = p.kv_heads * (p.head_dim + p.v_head_dim) * kv_bytes(p)
    cached = r.total(keys_seen(p, r)) * per_key
    queries = r.total(r.q)
    own = queries * p.heads * (p.head_dim * p.dtype.bytes + p.v_head_dim * out_bytes(p))
    dram = gpu.dram_bytes_per_s * base_s
    return {
        "kv": cached / dram,
        "qo": own / dram,
        "append": queries * per_key / dram,
        "kv_in_l2": _cut(cached / gpu.l2_bytes) + 0.0 * base_s,
        "all_in_l2": _cut((cached + own) / gpu.l2_bytes) + 0.0 * base_s,
    }


def _cut(x: Number) -> Number:
    return minimum(maximum(x, 0.25), 4.0)
