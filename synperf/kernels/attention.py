"""Attention: one task holds a tile of queries and steps over the tiles of keys that its mask lets it see.

Tiles of one call are unequal: under a causal mask each sees more than the one before it. Kernels start the longest
first, or as they come; few tiles over many keys are split along the keys, and a second launch adds up the parts.
Source: FlashAttention-2, arXiv 2307.08691; FlashAttention-3, arXiv 2407.08608; FlashInfer, arXiv 2501.01005.
"""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div, is_array, maximum, where
from ..scheduling import TaskGroups
from .attention_call import Attention
from .attention_inputs import STEPPED, inputs
from .attention_launch import assumptions, launch, mean_tasks
from .attention_listed import listed
from .attention_requests import keys_seen, pairs, requests
from .attention_tiles import tiles_per_head, tiling
from .attention_traits import Traits, traits
from .attention_work import kv_bytes, out_bytes, work
from .base import KernelFamily
from .dispatch import PLAIN


def flop(p: Attention) -> Number:
    """Useful FLOP: two products over the pairs of a query and a key that meet, 4 q kv d without a mask."""
    return 2.0 * pairs(p, requests(p)) * p.heads * (p.head_dim + p.v_head_dim)


def compulsory_bytes(p: Attention) -> Number:
    """Q, and the K and V that any query sees, read once; O written once; the table of pages where there are any."""
    r = requests(p)
    keys = r.total(keys_seen(p, r))
    own = r.total(r.q) * p.heads * (p.head_dim * p.dtype.bytes + p.v_head_dim * out_bytes(p))
    return own + keys * p.kv_heads * (p.head_dim + p.v_head_dim) * kv_bytes(p) + _page_table_bytes(p, keys)


def _page_table_bytes(p: Attention, keys: Number) -> Number:
    return 0.0 if p.page_size is None else 4.0 * keys / p.page_size  # a number of 32 bits per page


def prepared_bytes(p: Attention, t: Traits) -> Number:
    """Traffic of the engine's pass before: new keys and values are read, and written to the cache; by some, Q too."""
    if t.engine == PLAIN:
        return 0.0
    queries = requests(p)
    new = queries.total(queries.q)
    found = new * p.kv_heads * (p.head_dim + p.v_head_dim) * (p.dtype.bytes + kv_bytes(p))
    return found + new * p.heads * p.head_dim * (2.0 * p.dtype.bytes) if t.prepares_queries else found


def dram_bytes(p: Attention, gpu: GPU) -> Number:
    """DRAM traffic of a launch that finds L2 cold: compulsory bytes, the pass before, keys that are read again.

    The tiles that run at once read the keys of a head together. Where a head has more tiles than there are SMs, later
    ones read the keys again; L2 serves them for the share of one head's keys that it holds.
    """
    r, t = requests(p), traits(gpu, p.dtype, p.engine, p.kernel)
    tile = tiling(p, r, t)
    passes = ceil_div(tiles_per_head(r, tile) * tile.heads / p.kv_heads, gpu.num_sms)
    of_head = keys_seen(p, r) * (p.head_dim + p.v_head_dim) * kv_bytes(p)
    missed = maximum(1.0 - gpu.l2_bytes / of_head, 0.0)
    repeated = r.total((passes - 1.0) * missed * of_head) * p.kv_heads
    return compulsory_bytes(p) + prepared_bytes(p, t) + repeated


def decompose(p: Attention, gpu: GPU) -> TaskGroups:
    """Tiles, or their parts, as one group whose work is that of the mean task."""
    w = work(p, gpu)
    found = mean_tasks(w, gpu, p.dtype)
    found.before_s = prepared_bytes(p, w.traits) / gpu.dram_bytes_per_s
    found.reduction_s = where(w.is_split, w.traits.reduction_s, 0.0)
    return found


def variant(p: Attention) -> Number:
    """`encoder` without a causal mask, else `decode` of one query a request, else `prefill`."""
    if not p.causal:
        return "encoder"
    if is_array(p.q_len):
        return np.where(p.q_len == 1, "decode", "prefill")
    longest = p.q_len if p.q_lens is None else max(p.q_lens)
    return "decode" if longest == 1 else "prefill"


FAMILY = KernelFamily(
    name="attention",
    call_type=Attention,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=Attention(batch=4, q_len=4096, kv_len=4096, heads=32, kv_heads=8, head_dim=128),
    inputs=inputs,
    listed=listed,
    stepped=STEPPED,
    marks=("windowed", "alone", "one_key", "kv_width"),
    shape=("heads", "kv_heads", "head_dim"),
    variant=variant,
    summary="softmax(Q K^T) V: prefill, decode, chunked, sliding windows, grouped heads, requests of any lengths",
)
