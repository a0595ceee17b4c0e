"""Calls of a layer's multi-head latent attention, with or without an indexer that chooses the keys.

Prompts meet keys and values of every head, which a product makes from the latents of all tokens; in decode the heads
meet the latents themselves. Prompts longer than an indexer's choice do so too, and their choice counts as a window of
as many keys: the same number of products, of which every query sees other ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..hardware import DType
from ..kernels.attention_call import Attention
from ..kernels.gemm_call import Gemm
from ..kernels.kv_append import KvAppend
from ..kernels.layernorm import LayerNorm
from ..kernels.mla_call import Mla
from ..kernels.mla_core import NOPE_DIM, V_DIM
from ..kernels.rmsnorm import RmsNorm
from ..kernels.rope import Rope
from ..kernels.sampling import Sampling
from ..numeric import Number, ceil_div, minimum
from .batch import Requests
from .call_list import Calls, Pass
from .description import Layer
from .mixers import Indexer, LatentAttention


def latent_calls(p: Pass, layer: Layer, a: LatentAttention) -> Calls:
    """Calls from the hidden state to the output projection."""
    heads, hidden = a.heads // p.plan.tp, p.model.hidden
    yield from _projections(p, layer, a, heads)
    yield p.call("rope", Rope, rows=p.tokens * (heads + 1), dim=a.rope_dim)
    yield p.call("kv_append", KvAppend, rows=p.tokens, dim=a.kv_values() // 2, quant_dtype=p.narrow_cache)
    if a.indexer is not None and not a.indexer.shared:
        yield from _indexer(p, layer, a.indexer, a.q_rank)
    for one in p.batch.prompts():
        if a.indexer is not None and np.any(one.kv_len > a.indexer.topk):
            yield from _absorbed(p, a, heads, one, "prefill_attention", Attention, _sparse(a, a.indexer, heads))
        else:
            yield from _expanded(p, layer, a, heads, one)
    if p.batch.decodes():
        one = _alike(p.batch.decodes())
        kv_len = one.kv_len if a.indexer is None else minimum(one.kv_len, a.indexer.topk)
        sizes = {"kv_lora_rank": a.kv_rank, "rope_dim": a.rope_dim, "absorbed": True, "heads": heads}
        yield from _absorbed(p, a, heads, one, "decode_attention", Mla, {**sizes, "kv_len": kv_len})
    yield p.gemm("o", layer, "self_attn.o_proj", hidden, heads * a.v_dim)


def _projections(p: Pass, layer: Layer, a: LatentAttention, heads: int) -> Calls:
    hidden, kept = p.model.hidden, a.kv_values()
    if a.q_rank:
        yield p.gemm("qkv_down", layer, "self_attn.q_a_proj", a.q_rank + kept, hidden)
        yield p.call("q_norm", RmsNorm, rows=p.tokens, dim=a.q_rank)
        yield p.gemm("q_up", layer, "self_attn.q_b_proj", heads * a.qk_dim, a.q_rank)
    else:
        yield p.gemm("q", layer, "self_attn.q_proj", heads * a.qk_dim, hidden)
        yield p.gemm("kv_down", layer, "self_attn.kv_a_proj_with_mqa", kept, hidden)
    yield p.call("kv_norm", RmsNorm, rows=p.tokens, dim=a.kv_rank)


def _expanded(p: Pass, layer: Layer, a: LatentAttention, heads: int, one: Requests) -> Calls:
    """Attention with keys and values of every head."""
    lengths = {"batch": one.count, "q_len": one.q_len, "kv_len": one.kv_len, "heads": heads}
    n = heads * (a.nope_dim + a.v_dim)
    yield p.gemm("kv_up", layer, "self_attn.kv_b_proj", n, a.kv_rank, one.count * one.kv_len)
    if (a.nope_dim, a.v_dim) == (NOPE_DIM, V_DIM):
        ranks = {"kv_lora_rank": a.kv_rank, "rope_dim": a.rope_dim, "absorbed": False}
        yield p.call("prefill_attention", Mla, kv_dtype=p.cached, **ranks, **lengths)
    else:
        yield p.call("prefill_attention", Attention, head_dim=a.qk_dim, v_head_dim=a.v_dim, **lengths)


def _absorbed(p: Pass, a: LatentAttention, heads: int, one: Requests, part: str, kind: Any, fields: Any) -> Calls:
    """Attention of heads in latent space, and the products into it and out of it, which are not quantised."""
    yield p.call("q_absorb", Gemm, batch=heads, m=one.tokens, n=a.kv_rank, k=a.nope_dim)
    yield p.call(part, kind, **{"batch": one.count, "q_len": one.q_len, "kv_len": one.kv_len, "kv_dtype": p.cached,
                                **fields})  # fmt: skip
    yield p.call("v_up", Gemm, batch=heads, m=one.tokens, n=a.v_dim, k=a.kv_rank)


def _sparse(a: LatentAttention, indexer: Indexer, heads: int) -> dict[str, Any]:
    """Fields of attention to chosen keys: all heads meet one latent, of which each query sees `topk`."""
    latent = {"kv_heads": 1, "head_dim": a.kv_values(), "v_head_dim": a.kv_rank}
    return {**latent, "heads": heads, "window": indexer.topk}


def _indexer(p: Pass, layer: Layer, i: Indexer, q_rank: int) -> Calls:
    """Projections of the indexer, its scores over all keys, in fp8, and the choice of the greatest."""
    hidden = p.model.hidden
    yield p.gemm("index_q", layer, "self_attn.indexer.wq_b", i.heads * i.dim, q_rank)
    yield p.gemm("index_k", layer, "self_attn.indexer.wk", i.dim, hidden)
    yield p.gemm("index_weights", layer, "self_attn.indexer.weights_proj", i.heads, hidden)
    yield p.call("index_norm", LayerNorm, rows=p.tokens, dim=i.dim)
    prompts, decodes = p.batch.prompts(), p.batch.decodes()
    for one in (*prompts, *((_alike(decodes),) if decodes else ())):
        lengths = {"batch": one.count, "q_len": one.q_len, "kv_len": one.kv_len}
        heads = {"heads": i.heads, "kv_heads": 1, "head_dim": i.dim, "v_head_dim": 1}
        yield p.call("index_scores", Attention, dtype=DType.FP8, **heads, **lengths)
        if np.all(one.kv_len > i.topk):
            yield p.call("index_topk", Sampling, rows=one.tokens, vocab=one.kv_len, top_k=i.topk, dtype=DType.FP32)


def _alike(requests: tuple[Requests, ...]) -> Requests:
    """Requests in decode as alike ones of their mean length: the cache that is read is the same."""
    if len(requests) == 1:
        return requests[0]
    count: Number = sum(one.count for one in requests)
    return Requests(count=count, kv_len=ceil_div(sum(one.count * one.kv_len for one in requests), count))
