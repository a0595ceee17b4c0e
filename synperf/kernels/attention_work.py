"""Work of attention on every pipe: what one step of a tile costs, what a launch adds up to, and how it is split.

One step multiplies `rows` queries with `columns` keys, takes their exponentials, and multiplies these with V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, is_array, maximum, minimum, where
from ..scheduling import unequal
from .attention_call import Attention
from .attention_requests import Requests, requests
from .attention_split import FULL, even_chunk, num_splits, planned_chunk
from .attention_tiles import Steps, Tiling, busiest_steps, steps, tiling
from .attention_traits import Traits, traits

# On the FMA pipe, a lane operation counted as two FLOP, as in the inner loop of FlashAttention-2 and -3.
SCORE_FLOP = 7.0  # per score: scale and subtract, maximum, sum, half a conversion of two
RESCALE_FLOP = 2.0  # per accumulated value and step: multiplied when the maximum rises
WIDEN_FLOP = 2.0  # per value of a K or V stored narrower than it is multiplied
_PARTIAL_BYTES = 8.0  # per value of a part of O: fp32, written and read
_MMA_WARPS = 4  # warps of the kernels of mma.sync that each read all of K and V, 16 rows of queries or more each
_OUT = {DType.FP32: 4.0, DType.TF32: 4.0}  # every other format writes 16 bits


@dataclass(slots=True, kw_only=True)
class Step:
    """Work of one step of a tile, padded, and the seconds that it takes on the slowest pipe inside an SM."""

    tensor_flop: Number
    fma_flop: Number
    xu_op: Number
    shared_bytes: Number
    slowest_s: Number


@dataclass(slots=True, kw_only=True)
class Work:
    """All work of a call. `busiest` are the steps of the busiest SM, `tasks` the tiles, or their parts when split."""

    requests: Requests
    tiling: Tiling
    traits: Traits
    steps: Steps
    step: Step
    tiles: Number
    total_steps: Number
    busiest: Number
    tasks: Number
    splits: Number
    is_split: Number
    fill_s: Number
    load_bytes: Number
    store_bytes: Number
    port_bytes: Number  # of the busiest SM


def _slowest(pipe_s: Number, port_s: Number, pool_s: Number) -> Number:
    return maximum(maximum(pipe_s, port_s), pool_s)


def out_bytes(p: Attention) -> float:
    """Bytes of one value of O."""
    return _OUT.get(p.dtype, 2.0)


def kv_bytes(p: Attention) -> float:
    """Bytes of one cached value."""
    assert p.kv_dtype is not None
    return p.kv_dtype.bytes


def work(p: Attention, gpu: GPU) -> Work:
    """Tiles, steps, traffic and split of a call or of columns of calls.

    Raises:
        UnsupportedError: the GPU lacks the format, or the kernel does not run on it.
    """
    t = traits(gpu, p.dtype, p.engine, p.kernel)
    r = requests(p)
    tile = tiling(p, r, t)
    s = steps(p, r, tile)
    one = step(p, gpu, tile)
    tiles, total = r.total(s.tiles) * tile.heads, r.total(s.total) * tile.heads
    unsplit = busiest_steps(p, r, tile, s, t.longest_first, gpu.num_sms)
    even = unequal.split(total, 1.0, gpu.num_sms)
    queries, value_bytes = r.total(r.q) * p.heads, (p.head_dim + p.v_head_dim) * kv_bytes(p)
    load = queries * p.head_dim * p.dtype.bytes + r.total(s.tokens) * tile.heads * value_bytes
    store = queries * p.v_head_dim * out_bytes(p)
    held = minimum(tile.rows, r.most(r.q) * tile.packed)  # rows of a tile that hold queries
    loaded = held * p.head_dim * p.dtype.bytes
    per_sm, per_step = ceil_div(tiles, gpu.num_sms), minimum(tile.columns, r.most(s.reach)) * value_bytes
    whole_port = unsplit * per_step + per_sm * (loaded + held * p.v_head_dim * out_bytes(p))
    split_port = even * per_step + loaded + held * p.v_head_dim * _PARTIAL_BYTES
    pool_s = (load + store) / gpu.l2_bytes_per_s
    whole_s = _slowest(unsplit * one.slowest_s, whole_port / gpu.l2_port_bytes_per_s, pool_s) + per_sm * t.fill_s
    split_s = _slowest(even * one.slowest_s, split_port / gpu.l2_port_bytes_per_s, pool_s) + t.fill_s
    is_split = may_split(p, t, tile) & (tiles < t.splits_at * gpu.num_sms) & (split_s + t.reduction_s < whole_s)
    splits = _splits(p, gpu, t, r, tile, s, tiles, is_split)
    return Work(
        requests=r,
        tiling=tile,
        traits=t,
        steps=s,
        step=one,
        tiles=tiles,
        total_steps=total,
        busiest=where(is_split, even, unsplit),
        tasks=where(is_split, tiles * splits, tiles),
        splits=splits,
        is_split=is_split,
        fill_s=where(is_split, t.fill_s, per_sm * t.fill_s),
        load_bytes=load,
        store_bytes=store,
        port_bytes=where(is_split, split_port, whole_port),
    )


def may_split(p: Attention, t: Traits, tile: Tiling) -> Number:
    """Whether a kernel has a launch that is split along the keys, for these heads and this cache."""
    return t.splits_narrow or kv_bytes(p) >= p.dtype.bytes or tile.packed <= 1.0


def step(p: Attention, gpu: GPU, t: Tiling) -> Step:
    """Work of one step; a tile costs as much with few rows in it as with all."""
    scores = t.rows * t.columns
    math = 2.0 * scores * (t.head_dim + t.v_head_dim)
    fma = SCORE_FLOP * scores + RESCALE_FLOP * t.rows * t.v_head_dim
    keys = t.columns * (t.head_dim + t.v_head_dim)
    if kv_bytes(p) < p.dtype.bytes:
        fma = fma + WIDEN_FLOP * keys
    is_tensor = gpu.math_pipe(p.dtype) == "tensor"
    shared = (keys * (1.0 + _reads(gpu, t.rows)) + t.rows * t.head_dim) * p.dtype.bytes
    tensor, fma = (math, fma) if is_tensor else (0.0, fma + math)
    clock = gpu.clock_hz
    slowest = maximum(tensor / gpu.flop_per_clk_per_sm(p.dtype), fma / gpu.other_fma_flop_per_clk_per_sm(p.dtype))
    slowest = maximum(slowest, scores / gpu.xu_op_per_clk_per_sm)
    slowest = maximum(slowest, shared / gpu.shared_bytes_per_clk_per_sm) / clock
    return Step(tensor_flop=tensor, fma_flop=fma, xu_op=scores, shared_bytes=shared, slowest_s=slowest)


def _reads(gpu: GPU, rows: Number) -> Number:
    """How often K and V leave shared memory for one step: once per instruction's worth of rows.

    Source: PTX ISA: wgmma multiplies 64 rows, tcgen05 128; warps of mma.sync have their own rows, and read all keys.
    """
    if gpu.cc[0] in (9, 10):
        return ceil_div(rows, 64.0 if gpu.cc[0] == 9 else 128.0)
    return minimum(ceil_div(rows, 16.0), _MMA_WARPS)


def _splits(
    p: Attention, gpu: GPU, t: Traits, r: Requests, tile: Tiling, s: Steps, tiles: Number, is_split: Number
) -> Number:
    """Parts per tile by the kernel's own rule, two or more; 1 where nothing is split."""
    if not (is_split.any() if is_array(is_split) else is_split):
        return 1.0 + 0.0 * tiles
    blocks = r.most(s.longest)
    if t.kernel == "flashinfer":
        page = 1 if p.page_size is None else p.page_size
        most = 2.0 * gpu.num_sms / tile.heads  # two CTAs per SM, over the heads of the grid
        if r.differ and np.ndim(most) == 0 and not is_array(p.page_size):
            chunk: Number = planned_chunk(np.broadcast_to(s.tiles, r.kv.shape) * r.count, r.kv, most, int(page))
        else:
            chunk = even_chunk(r.total(s.tiles), r.most(r.kv), most, page)
        found = ceil_div(r.most(r.kv), chunk)
    else:
        found = num_splits(tiles, round(gpu.num_sms * t.splits_at / FULL), blocks)
    return where(is_split, maximum(minimum(found, blocks), 2.0), 1.0)
