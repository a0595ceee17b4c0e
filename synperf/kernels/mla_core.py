"""The core of MLA, attention alone: over decompressed keys and values, or absorbed, over the latents themselves."""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, maximum
from ..scheduling import TaskGroups
from . import attention, mla_latent, mla_work
from .attention_call import Attention
from .attention_launch import mean_tasks
from .attention_requests import requests
from .attention_tiles import tiling
from .attention_traits import traits
from .attention_work import Work, step
from .dispatch import PLAIN
from .mla_call import Mla
from .mla_traits import MlaKernel

NOPE_DIM = 128  # of a head's keys without their rotated part, and of its values; DeepSeek-V2 and -V3, config.json
V_DIM = 128
_WIDE_BYTES = 2.0  # of what is rearranged


def as_attention(p: Mla, kernel: str = "plain") -> Attention:
    """The core as a call of the attention family: keys of every head, or absorbed one of 512 + 64 for all heads."""
    given = {"batch": p.batch, "q_len": p.q_len, "kv_len": p.kv_len, "heads": p.heads, "dtype": p.dtype}
    if p.absorbed:
        return Attention(
            **given, kv_heads=1, head_dim=p.kv_lora_rank + p.rope_dim, v_head_dim=p.kv_lora_rank, kv_dtype=p.kv_dtype,
            engine="plain", kernel="plain",
        )  # fmt: skip
    return Attention(**given, head_dim=NOPE_DIM + p.rope_dim, v_head_dim=V_DIM, engine="plain", kernel=kernel)


def cached_bytes(p: Mla) -> Number:
    """Bytes of the cache per token: its latent and its rotated key."""
    assert p.kv_dtype is not None
    return (p.kv_lora_rank + p.rope_dim) * p.kv_dtype.bytes


def append_bytes(p: Mla, k: MlaKernel) -> Number:
    """Traffic of writing new tokens to the cache, which engines do first; none with engine=plain."""
    assert p.kv_dtype is not None
    values = 1.0 * p.batch * p.q_len * (p.kv_lora_rank + p.rope_dim)
    return 0.0 * values if k.engine == PLAIN else values * (p.dtype.bytes + p.kv_dtype.bytes)


def flop(p: Mla) -> Number:
    """Useful FLOP: two products over the pairs of a query and a token that meet, of 192 and 128 or of 576 and 512."""
    return attention.flop(as_attention(p))


def compulsory_bytes(p: Mla) -> Number:
    """Q and the keys and values, or the latents, read once; O written once."""
    a = as_attention(p)
    return mla_latent.compulsory_bytes(a) if p.absorbed else attention.compulsory_bytes(a)


def repeated_bytes(p: Mla, gpu: GPU, k: MlaKernel) -> Number:
    """What tiles read again because L2 has lost it."""
    a = as_attention(p, k.prefill)
    if p.absorbed:
        return mla_latent.repeated_bytes(a, gpu, k.latent)
    return attention.dram_bytes(a, gpu) - attention.compulsory_bytes(a)


def side_bytes(p: Mla, k: MlaKernel) -> Number:
    """Traffic of the pass before the core: it writes the cache, and rearranges Q, K and V or widens the latents."""
    assert p.kv_dtype is not None
    moved = append_bytes(p, k)
    if p.absorbed and k.widens and p.kv_dtype.bytes < p.dtype.bytes:
        widened = (p.kv_lora_rank + p.rope_dim) * (p.kv_dtype.bytes + 2.0 * p.dtype.bytes)
        moved = moved + 1.0 * p.batch * p.kv_len * widened
    if not p.absorbed and k.rearranges:
        values = p.q_len * (NOPE_DIM + p.rope_dim) + p.kv_len * (NOPE_DIM + p.rope_dim + V_DIM)
        moved = moved + 1.0 * p.batch * p.heads * values * (_WIDE_BYTES + p.dtype.bytes)
    return moved


def missed_share(held_bytes: Number, gpu: GPU) -> Number:
    """Of what launches hand on, the share that L2 cannot hold."""
    return maximum(0.0, 1.0 - gpu.l2_bytes / maximum(held_bytes, 1.0))


def side_s(moved: Number, held_bytes: Number, gpu: GPU) -> Number:
    """Seconds of launches that only move bytes: out of L2, and out of DRAM what L2 cannot hold."""
    dram_s, l2_s = 1.0 / gpu.dram_bytes_per_s, 1.0 / gpu.l2_bytes_per_s
    return moved * (l2_s + missed_share(held_bytes, gpu) * (dram_s - l2_s))


def dram_bytes(p: Mla, gpu: GPU, k: MlaKernel) -> Number:
    """DRAM traffic of the core alone that finds L2 cold."""
    side = side_bytes(p, k)
    return compulsory_bytes(p) + repeated_bytes(p, gpu, k) + side * missed_share(side, gpu)


def work(p: Mla, gpu: GPU, k: MlaKernel) -> Work:
    """Tiles, steps and traffic of the core."""
    a = as_attention(p, k.prefill)
    if p.absorbed:
        tile = mla_latent.tiling(a, k.latent)
        one = mla_latent.latent_step(a, gpu, tile)
        return mla_work.work(a, gpu, k.latent, tile, one, cached_bytes(p), is_even=k.splits)
    t = traits(gpu, p.dtype, "plain", k.prefill)
    tile = tiling(a, requests(a), t)
    key_bytes = (a.head_dim + a.v_head_dim) * p.dtype.bytes
    return mla_work.work(a, gpu, t, tile, step(a, gpu, tile), key_bytes, is_even=False)


def tasks(p: Mla, gpu: GPU, k: MlaKernel) -> TaskGroups:
    """The core's tiles and the pass before them."""
    found, side = mean_tasks(work(p, gpu, k), gpu, as_attention(p, k.prefill).dtype), side_bytes(p, k)
    found.before_s = side_s(side, side, gpu)
    return found
