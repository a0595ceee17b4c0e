"""The core of sparse attention: the heads of each query meet the latents that were selected for it alone.

A query is as a request of one token of absorbed MLA, over as many latents as it selects.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div, floor, maximum, minimum
from ..scheduling import TaskGroups
from . import mla_latent, mla_work
from .attention_call import Attention
from .attention_launch import mean_tasks
from .attention_requests import requests
from .attention_tiles import Steps, Tiling, steps
from .attention_work import Work
from .one_by_one import MOST_LISTED, Order, Tiles
from .sparse_attention_call import SparseAttention
from .sparse_attention_traits import SparseKernel
from .sparse_attention_work import cached_bytes, pairs, selected


def as_attention(p: SparseAttention, k: SparseKernel) -> Attention:
    """Queries as requests of one token over the latents of the longest selection, which all heads share."""
    call = object.__new__(Attention)
    given = {
        "batch": 1.0 * p.batch * p.q_len, "q_len": 1.0, "kv_len": 1.0 * p.topk if k.whole else selected(p),
        "heads": p.heads, "kv_heads": 1.0, "head_dim": p.kv_lora_rank + p.rope_dim, "v_head_dim": p.kv_lora_rank,
        "dtype": p.dtype, "kv_dtype": p.kv_dtype, "causal": True, "window": 0, "engine": "plain", "kernel": "plain",
    }  # fmt: skip
    for name in Attention.__slots__:
        object.__setattr__(call, name, given.get(name))
    return call


def work(p: SparseAttention, gpu: GPU, k: SparseKernel) -> Work:
    """Tiles, steps and traffic of the core."""
    a = as_attention(p, k)
    tile = mla_latent.tiling(a, k.latent)
    one = mla_latent.latent_step(a, gpu, tile)
    own = _steps(p, a, tile, k)
    return mla_work.work(a, gpu, k.latent, tile, one, cached_bytes(p), is_even=k.splits, own=own)


def _steps(p: SparseAttention, a: Attention, tile: Tiling, k: SparseKernel) -> Steps:
    """Steps of a mean query; early ones have fewer tokens before them than a selection has places."""
    s = steps(a, requests(a), tile)
    if k.whole:
        return s
    queries = 1.0 * p.batch * p.q_len
    return replace(
        s, total=s.total * (_of_request(p, tile) / (p.q_len * s.capped)),
        tokens=s.tokens * (pairs(p) / (queries * a.kv_len)),
    )  # fmt: skip


def _of_request(p: SparseAttention, tile: Tiling) -> Number:
    """Steps of all queries of a request."""
    kv = 1.0 * p.kv_len
    return _up_to(kv, p, tile.columns) - _up_to(kv - p.q_len, p, tile.columns)


def _up_to(n: Number, p: SparseAttention, columns: Number) -> Number:
    """Sum of ceil(min(i, topk) / columns) over i from 1 to n."""
    short = minimum(n, 1.0 * p.topk)
    whole = floor(short / columns)
    ramp = columns * whole * (whole + 1.0) / 2.0 + (short - whole * columns) * (whole + 1.0)
    return ramp + maximum(n - p.topk, 0.0) * ceil_div(1.0 * p.topk, columns)


def tasks(p: SparseAttention, gpu: GPU, k: SparseKernel) -> TaskGroups:
    """The core's tiles."""
    found = mean_tasks(work(p, gpu, k), gpu, p.dtype)
    found.before_s = 0.0
    return found


def listed(p: SparseAttention, gpu: GPU, k: SparseKernel) -> Tiles:
    """Tiles of one call; kernels that split spread them evenly."""
    w = work(p, gpu, k)
    return Tiles(
        num_tiles=int(w.tiles),
        total=float(w.total_steps),
        longest=float(w.steps.longest),
        busiest=float(w.busiest),
        order=Order.EVENLY if k.splits else Order.LONGEST_FIRST,
        lengths=_lengths(p, w, k) if w.tiles <= MOST_LISTED else None,
    )


def _lengths(p: SparseAttention, w: Work, k: SparseKernel) -> np.ndarray:
    """Steps of every tile, query after query."""
    places = np.arange(p.kv_len - p.q_len + 1, p.kv_len + 1)
    steps = np.ceil((np.full(len(places), p.topk) if k.whole else np.minimum(places, p.topk)) / w.tiling.columns)
    return np.tile(np.repeat(steps, int(w.steps.tiles)), p.batch)
