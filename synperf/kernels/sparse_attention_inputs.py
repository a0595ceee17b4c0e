"""What a network sees of sparse attention beyond the demand on pipes: lengths, tiles of the core, scores, projections.

Every input is a positive ratio, or an extent, which the network takes the logarithm of. Times are over the base time.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum, minimum
from . import sparse_attention_core as core
from .projection_inputs import near_one, projection_math, projection_width
from .sparse_attention_call import SparseAttention
from .sparse_attention_module import index_dtype, index_s, select_s
from .sparse_attention_traits import sparse_kernel
from .sparse_attention_work import (
    LOGIT_BYTES,
    cached_bytes,
    compulsory_bytes,
    handed_bytes,
    index_bytes,
    pairs,
    projections,
    scored,
    selected,
    side_bytes,
    weight_bytes,
)

STEPPED = ("queries", "query_waves", "wave_fill", "kv_over_topk", "cache_in_l2", "proj_time_64", "proj_time_128")
_LEAST = 1e-4  # of what may be 0: nothing is scored of few tokens


def inputs(p: SparseAttention, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Inputs by name; `base_s` is what times are relative to, `clock_share` the sustained part of the clock."""
    k = sparse_kernel(p, gpu)
    w, one = core.work(p, gpu, k), 1.0 + 0.0 * base_s
    queries, dram = 1.0 * p.batch * p.q_len, gpu.dram_bytes_per_s * base_s
    waves = queries / gpu.num_sms
    found = {
        "batch": 1.0 * p.batch * one,
        "q_len": 1.0 * p.q_len * one,
        "kv_len": 1.0 * p.kv_len * one,
        "heads": 1.0 * p.heads * one,
        "queries": queries * one,
        "q_rank": 1.0 * p.q_rank * one,
        "index_heads": 1.0 * p.index_heads * one,
        "topk": 1.0 * p.topk * one,
        "selected": selected(p) * one,
        "seen": pairs(p) / queries * one,
        "kv_over_topk": near_one(1.0 * p.kv_len / p.topk) * one,
        "kv_width": cached_bytes(p) / (p.kv_lora_rank + p.rope_dim) / p.dtype.bytes * one,
        "query_waves": ceil_div(waves, 1.0) * one,
        "wave_fill": waves / ceil_div(waves, 1.0) * one,
        "tile_rows": w.tiling.rows * one,
        "rows_used": minimum(1.0 * p.heads / w.tiling.rows, 1.0) * one,
        "core_steps": w.busiest * one,
        "core_step": w.busiest * w.step.slowest_s / clock_share / base_s,
        "core_tasks": w.tasks / gpu.num_sms * one,
        "imbalance": w.busiest * gpu.num_sms / w.total_steps * one,
        "latents": pairs(p) * cached_bytes(p) / dram,
        "cache": 1.0 * p.batch * p.kv_len * cached_bytes(p) / dram,
        "cache_in_l2": near_one(1.0 * p.batch * selected(p) * cached_bytes(p) / gpu.l2_bytes) * one,
        "compulsory_in_l2": near_one(compulsory_bytes(p) / gpu.l2_bytes) * one,
    }
    return found | _module(p, gpu, base_s, clock_share) if p.is_module else found


def _module(p: SparseAttention, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:
    """Scores and projections at the rates of their formats, in whole tiles too; weights, what lies between."""
    parts = projections(p)
    dram = gpu.dram_bytes_per_s * base_s
    handed, keys = handed_bytes(p), scored(p) / p.q_len * index_bytes(p)
    return {
        "index": maximum(index_s(p, gpu) / base_s, _LEAST),
        "select": maximum(select_s(p, gpu) / base_s, _LEAST),
        "index_keys": maximum(keys / dram, _LEAST),
        "index_per_query": scored(p) / (1.0 * p.batch * p.q_len) + 1.0 + 0.0 * base_s,
        "index_width": index_dtype(p, gpu).bytes / 2.0 * (1.0 if p.indexes else 4.0) + 0.0 * base_s,
        "scores": maximum(scored(p) * LOGIT_BYTES / dram, _LEAST),
        **projection_math(parts, gpu, base_s, clock_share),
        "proj_weights": weight_bytes(p) / dram,
        "proj_width": projection_width(parts) + 0.0 * base_s,
        "handed": handed / dram,
        "handed_in_l2": near_one(handed / gpu.l2_bytes) + 0.0 * base_s,
        "side": side_bytes(p) / dram,
    }
