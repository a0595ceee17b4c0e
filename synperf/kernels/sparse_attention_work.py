"""What sparse attention must compute and move: pairs that meet, pairs that are scored, projections around them.

The query at position n (from 1) meets the best min(n, topk) tokens up to it. Where n is above topk the indexer has
scored all n: per pair 2 index_heads index_dim FLOP in fp8, a maximum with zero, and a weighted sum over its heads.
Source: DeepSeek-V3.2, arXiv 2512.02556, section 2.1, and inference/model.py of DeepSeek-V3.2-Exp.
"""

from __future__ import annotations

from ..hardware import DType
from ..numeric import Number, maximum, minimum, where
from .gemm_costs import value_bytes
from .mla_call import unquantised
from .mla_module import FASTER, Projection
from .sparse_attention_call import SparseAttention

_SCALE_BYTES = 4.0  # one fp32 scale per key of the indexer; 128 values share one
WIDE_BYTES = 2.0  # of hidden states, queries and results
LOGIT_BYTES = 4.0
GATE_FLOP = 3.0  # per pair and head of the indexer: a maximum, a multiplication and an addition


def selected(p: SparseAttention) -> Number:
    """Tokens that the last query meets."""
    return minimum(1.0 * p.kv_len, 1.0 * p.topk)


def _up_to(n: Number, most: Number) -> Number:
    """Sum of min(i, most) over i from 1 to n."""
    short = minimum(n, most)
    return short * (short + 1.0) / 2.0 + maximum(n - most, 0.0) * most


def pairs(p: SparseAttention) -> Number:
    """Pairs of a query and a token that meet, of one head, over all requests."""
    kv, topk = 1.0 * p.kv_len, 1.0 * p.topk
    return p.batch * (_up_to(kv, topk) - _up_to(kv - p.q_len, topk))


def scored(p: SparseAttention) -> Number:
    """Pairs of a query and a token that the indexer scores, over all requests."""
    if not p.is_module or not p.indexes:
        return 0.0 * p.batch * p.kv_len
    kv, topk = 1.0 * p.kv_len, 1.0 * p.topk
    first = maximum(kv - p.q_len, topk)  # the last position whose query scores nothing
    return p.batch * maximum(kv - first, 0.0) * (first + 1.0 + kv) / 2.0


def cached_bytes(p: SparseAttention) -> Number:
    """Bytes of the cache per token: its latent and its rotated key."""
    assert p.kv_dtype is not None
    return (p.kv_lora_rank + p.rope_dim) * p.kv_dtype.bytes


def index_bytes(p: SparseAttention) -> Number:
    """Bytes of the indexer's cache per token: a key in fp8, and its scale."""
    return 1.0 * p.index_dim + _SCALE_BYTES


def core_flop(p: SparseAttention) -> Number:
    """FLOP of the two products over latents that meet."""
    return 2.0 * pairs(p) * p.heads * (2.0 * p.kv_lora_rank + p.rope_dim)


def score_flop(p: SparseAttention) -> Number:
    """FLOP of the indexer's products, in fp8."""
    return 2.0 * scored(p) * p.index_heads * p.index_dim


def projections(p: SparseAttention) -> tuple[Projection, ...]:
    """The products around the core, in their order; those of the indexer are whole on every rank."""
    tokens, dtype, wide = 1.0 * p.batch * p.q_len, p.projected, unquantised(p.dtype)
    down = Projection("down", tokens, p.q_rank + p.kv_lora_rank + p.rope_dim, p.hidden, 1, dtype)
    q_up = Projection("q_up", tokens, p.heads * (p.nope_dim + p.rope_dim), p.q_rank, 1, dtype)
    into = Projection("into_latent", tokens, p.kv_lora_rank, p.nope_dim, p.heads, wide)
    back = Projection("out_of_latent", tokens, p.v_dim, p.kv_lora_rank, p.heads, wide)
    out = Projection("out", tokens, p.hidden, p.heads * p.v_dim, 1, dtype)
    if not p.indexes:
        return down, q_up, into, back, out
    index_q = Projection("index_q", tokens, p.index_heads * p.index_dim, p.q_rank, 1, dtype)
    index_k = Projection("index_k", tokens, 1.0 * p.index_dim + p.index_heads, p.hidden, 1, wide)
    return down, q_up, index_q, index_k, into, back, out


def flop(p: SparseAttention) -> Number:
    """Useful FLOP; each in another format counts as no more FLOP of the core's than take as long on any GPU."""
    if not p.is_module:
        return core_flop(p)
    core = FASTER.get(p.dtype, 1.0)
    around = sum(2.0 * x.rows * x.n * x.k * x.batch * (core / FASTER.get(x.dtype, 1.0)) for x in projections(p))
    return core_flop(p) + score_flop(p) * (core / FASTER[DType.FP8]) + around


def compulsory_bytes(p: SparseAttention) -> Number:
    """Every operand read once, the result written once; of the cache as much as one query selects, or as is new."""
    tokens, kv = 1.0 * p.batch * p.q_len, 1.0 * p.kv_len
    if not p.is_module:
        own = tokens * p.heads * (2.0 * p.kv_lora_rank + p.rope_dim) * WIDE_BYTES
        return own + p.batch * selected(p) * cached_bytes(p)
    latents = p.batch * maximum(selected(p), 1.0 * p.q_len) * cached_bytes(p)
    keys = p.batch * where(kv > p.topk, kv, 1.0 * p.q_len) * index_bytes(p) if p.indexes else 0.0
    return 2.0 * tokens * p.hidden * WIDE_BYTES + weight_bytes(p) + latents + keys


def weight_bytes(p: SparseAttention) -> Number:
    """Weights of all projections with their scales."""
    return sum(value_bytes(x.dtype)[1] * x.n * x.k * x.batch for x in projections(p))


def gathered_bytes(p: SparseAttention) -> Number:
    """Latents that queries read beyond those that the last query of each request does."""
    return (pairs(p) - p.batch * selected(p)) * cached_bytes(p)


def handed_bytes(p: SparseAttention) -> Number:
    """What launches write for one another: latents, queries, those in latent space, results; scores."""
    tokens, latent = 1.0 * p.batch * p.q_len, p.kv_lora_rank + p.rope_dim
    heads = p.heads * (p.nope_dim + p.rope_dim + p.v_dim + latent + p.kv_lora_rank)
    index = 1.0 * p.index_heads * p.index_dim if p.indexes else 0.0
    return WIDE_BYTES * tokens * (p.q_rank + latent + heads + index) + LOGIT_BYTES * scored(p)


def side_bytes(p: SparseAttention) -> Number:
    """Traffic of the launches between: they normalise, rotate, quantise, write the caches, and select by the scores.

    Scores are written once and read twice: for a histogram, and for those above its threshold (TensorRT-LLM,
    indexerTopK.cu).
    """
    tokens, latent = 1.0 * p.batch * p.q_len, p.kv_lora_rank + p.rope_dim
    moved = 2.0 * WIDE_BYTES * tokens * (p.q_rank + latent + p.heads * p.rope_dim)
    moved = moved + tokens * (WIDE_BYTES * latent + cached_bytes(p))
    if p.indexes:
        moved = moved + tokens * (WIDE_BYTES + 1.0) * (p.index_heads + 1.0) * p.index_dim
    if p.projected.bytes < WIDE_BYTES:
        moved = moved + (WIDE_BYTES + p.projected.bytes) * tokens * (p.hidden + p.q_rank + p.heads * p.v_dim)
    return moved + 3.0 * LOGIT_BYTES * scored(p)
