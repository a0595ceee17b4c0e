"""Work of the core of MLA on every pipe, over keys of every head and over latents alike.

Tiles over keys of every head are whole, each on one SM: engines do not split prefill. Kernels over latents that split
have every SM step over as many, whatever the lengths; the launch that adds up the parts is always there, and so is
part of the launch floor.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, minimum, where
from ..scheduling import unequal
from .attention_call import Attention
from .attention_requests import requests
from .attention_split import FULL, num_splits
from .attention_tiles import Steps, Tiling, busiest_steps, steps
from .attention_traits import Traits
from .attention_work import Step, Work, out_bytes

_PARTIAL_BYTES = 8.0  # per value of a part of O: fp32, written and read


def work(
    a: Attention, gpu: GPU, t: Traits, tile: Tiling, one: Step, key_bytes: Number, *, is_even: bool,
    own: Steps | None = None,
) -> Work:  # fmt: skip
    """Tiles, steps and traffic of calls; `key_bytes` is what a tile reads per key, `is_even` whether it is split.

    `own` are the steps where they are not those of a causal mask.
    """
    r = requests(a)
    s = steps(a, r, tile) if own is None else own
    tiles, total = r.total(s.tiles) * tile.heads, r.total(s.total) * tile.heads
    per_sm, queries = ceil_div(tiles, gpu.num_sms), r.total(r.q) * a.heads
    held = minimum(tile.rows, r.q * tile.packed)  # rows of a tile that hold queries
    busiest, part_bytes, splits = busiest_steps(a, r, tile, s, t.longest_first, gpu.num_sms), 0.0, 1.0 + 0.0 * tiles
    if is_even:
        busiest = unequal.split(total, 1.0, gpu.num_sms)
        part_bytes = held * a.v_head_dim * _PARTIAL_BYTES
        splits = where(tiles < FULL * gpu.num_sms, num_splits(tiles, gpu.num_sms, s.longest), splits)
    ends = held * (a.head_dim * a.dtype.bytes + a.v_head_dim * out_bytes(a))
    return Work(
        requests=r,
        tiling=tile,
        traits=t,
        steps=s,
        step=one,
        tiles=tiles,
        total_steps=total,
        busiest=busiest,
        tasks=tiles * splits,
        splits=splits,
        is_split=splits > 1.0,
        fill_s=per_sm * t.fill_s,
        load_bytes=queries * a.head_dim * a.dtype.bytes + r.total(s.tokens) * tile.heads * key_bytes,
        store_bytes=queries * a.v_head_dim * out_bytes(a),
        port_bytes=busiest * (minimum(tile.columns, s.reach) * key_bytes) + per_sm * ends + part_bytes,
    )
