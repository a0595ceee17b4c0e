"""Absorbed MLA: the heads of a request fill the rows of tiles, which step over latents that all of them share.

A latent is read once for both products: the scores take all of it and its rotated key, the values the latent alone.
Source: DeepSeek-V2, arXiv 2405.04434, section 2.1; FlashMLA repository, docs.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum, where
from .attention_call import Attention
from .attention_requests import requests
from .attention_tiles import Tiling, tiles_per_head
from .attention_traits import Traits
from .attention_work import Step, kv_bytes, out_bytes, step


def tiling(a: Attention, t: Traits) -> Tiling:
    """The tile for the rows of a request: its queries times all heads."""
    rows: Number = t.rows[0] + 0.0 * a.heads
    for few in reversed(t.few_rows):
        rows = where(1.0 * a.q_len * a.heads <= few, few, rows)
    return Tiling(
        rows=rows, columns=t.columns[0], packed=1.0 * a.heads, heads=1.0,
        head_dim=1.0 * a.head_dim, v_head_dim=1.0 * a.v_head_dim,
    )  # fmt: skip


def latent_step(a: Attention, gpu: GPU, tile: Tiling) -> Step:
    """As `attention_work.step`, but values are part of the keys, and come into shared memory with them."""
    one = step(a, gpu, tile)
    one.shared_bytes = one.shared_bytes - tile.columns * tile.v_head_dim * a.dtype.bytes
    clock = gpu.clock_hz
    slowest = maximum(one.tensor_flop / gpu.flop_per_clk_per_sm(a.dtype), one.xu_op / gpu.xu_op_per_clk_per_sm)
    fma_rate = gpu.other_fma_flop_per_clk_per_sm(a.dtype)
    slowest = maximum(slowest, one.fma_flop / fma_rate)
    one.slowest_s = maximum(slowest, one.shared_bytes / gpu.shared_bytes_per_clk_per_sm) / clock
    return one


def compulsory_bytes(a: Attention) -> Number:
    """Q in latent space and the latents read once, O in latent space written once."""
    r = requests(a)
    own = r.total(r.q) * a.heads * (a.head_dim * a.dtype.bytes + a.v_head_dim * out_bytes(a))
    return own + r.total(r.kv) * a.head_dim * kv_bytes(a)


def repeated_bytes(a: Attention, gpu: GPU, t: Traits) -> Number:
    """Latents that later tiles of a request read again, for the share that L2 cannot hold."""
    r = requests(a)
    passes = ceil_div(tiles_per_head(r, tiling(a, t)), gpu.num_sms)
    of_request = r.kv * a.head_dim * kv_bytes(a)
    missed = maximum(1.0 - gpu.l2_bytes / of_request, 0.0)
    return r.total((passes - 1.0) * missed * of_request)
