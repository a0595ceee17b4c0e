"""Tiles of attention: rows of queries that step over tiles of keys, each over as many as its mask lets it see.

Tile j, counted from the last, sees the keys up to kv_len - j tile_q (in tokens: a packed tile has the rows of several
heads for each), so more queries or keys never make less work; where q_len is whole tiles, that is the rule of
FlashAttention, which counts from the first. A window is taken to begin at the edge of a step.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from ..numeric import Number, ceil_div, floor, is_array, maximum, minimum, round_up, where
from ..scheduling import unequal
from .attention_call import Attention
from .attention_requests import Requests
from .attention_traits import Traits

_MOST_TILES = 2**18  # of requests that differ: that many lengths are counted one by one
_MOST_STEPS = 2**20


@dataclass(slots=True, kw_only=True)
class Tiling:
    """Tiles of a call or of columns of calls.

    `packed` query heads share the rows of a tile, token after token, and `heads` are what remains for the grid;
    `head_dim` and `v_head_dim` are padded to what the kernel is built for.
    """

    rows: Number
    columns: Number
    packed: Number
    heads: Number
    head_dim: Number
    v_head_dim: Number


def tiling(p: Attention, r: Requests, t: Traits) -> Tiling:
    """The tile that a kernel takes for the head dimension and the longest request."""
    group = p.heads / p.kv_heads
    longest = r.most(r.q)
    packed = where((group <= t.most_packed) & (t.packs_always | (longest == 1.0)), group, 1.0 + 0.0 * group)
    head_dim, v_head_dim = _padded(p.head_dim), _padded(p.v_head_dim)
    widest = maximum(head_dim, v_head_dim)
    rows, columns = _tile(t, widest)
    for few in reversed(t.few_rows):
        rows = where(longest * packed <= few, few, rows)
    return Tiling(
        rows=rows, columns=columns, packed=packed, heads=p.heads / packed, head_dim=head_dim, v_head_dim=v_head_dim
    )


def _tile(t: Traits, head_dim: Number) -> tuple[Number, Number]:
    """(rows, columns) of the first head dimension that is not below, else of the last."""
    if is_array(head_dim):
        at = np.minimum(np.searchsorted(t.dims, head_dim), len(t.dims) - 1)
        return np.array(t.rows)[at], np.array(t.columns)[at]
    one = min(bisect_left(t.dims, head_dim), len(t.dims) - 1)
    return t.rows[one], t.columns[one]


def _padded(head_dim: Number) -> Number:
    """As kernels are built: a multiple of 32 up to 128, of 64 beyond."""
    return where(head_dim <= 128, round_up(head_dim, 32.0), round_up(head_dim, 64.0))


@dataclass(slots=True, kw_only=True)
class Steps:
    """Tiles, and their steps, of each row of requests and one head of the grid."""

    tiles: Number
    total: Number
    longest: Number  # of any tile
    tokens: Number  # keys that tiles read, each tile its own
    reach: Number  # keys that no tile exceeds: those of its window, or all
    capped: Number  # steps over so many


def tiles_per_head(r: Requests, t: Tiling) -> Number:
    """Tiles of each row of requests and one head of the grid."""
    return ceil_div(r.q * t.packed, t.rows)


def steps(p: Attention, r: Requests, t: Tiling) -> Steps:
    """Steps over tiles of keys, in closed form."""
    tiles = tiles_per_head(r, t)
    span = minimum(r.q, t.rows)  # tokens that a tile covers; fewer when packed, but more heads must not make less work
    reach = _window_reach(p, r, span)
    capped = ceil_div(reach, t.columns)
    if not p.causal:
        return Steps(
            tiles=tiles, total=tiles * capped, longest=capped, tokens=tiles * reach, reach=reach, capped=capped
        )
    keys, step = r.kv * t.packed, t.columns * t.packed
    at_cap = _clip(ceil_div(keys - capped * step, t.rows), tiles)  # tiles that see all that a window leaves
    rising = tiles - at_cap
    first = keys - (tiles - 1.0) * t.rows  # what the tile with the fewest keys sees, over heads
    ramp = unequal.floor_sum(rising, step, t.rows, first + step - 1.0)
    cut = _clip(ceil_div(keys - reach * t.packed, t.rows), tiles)
    series = (tiles * (tiles - 1.0) - cut * (cut - 1.0)) / 2.0
    tokens = reach * cut + (tiles - cut) * r.kv - series * (t.rows / t.packed)
    return Steps(tiles=tiles, total=capped * at_cap + ramp, longest=capped, tokens=tokens, reach=reach, capped=capped)


def _window_reach(p: Attention, r: Requests, span: Number) -> Number:
    """Keys that a tile of `span` queries may see at most."""
    if type(p.window) is int and p.window == 0:
        return r.kv + 0.0 * span
    sides = 1.0 if p.causal else 2.0
    windowed = minimum(span + sides * (p.window - 1.0), r.kv)
    return where(p.window == 0, r.kv, windowed)


def _clip(x: Number, most: Number) -> Number:
    """`x` from 0 to `most`."""
    return minimum(maximum(x, 0.0), most)


def steps_of_tile(r: Requests, t: Tiling, s: Steps, j: Number, causal: bool) -> Number:
    """Steps of tile `j`, counted from the last, which has most."""
    if not causal:
        return s.capped + 0.0 * j
    return minimum(ceil_div(r.kv * t.packed - j * t.rows, t.columns * t.packed), s.capped)


def busiest_steps(p: Attention, r: Requests, t: Tiling, s: Steps, longest_first: bool, num_sms: int) -> Number:
    """Steps of the busiest SM when no tile is split."""
    tiles, total = r.total(s.tiles) * t.heads, r.total(s.total) * t.heads
    longest = r.most(s.longest)
    if r.differ:
        bound = _bound_of_requests(p, r, t, s, num_sms)
    else:
        per_tile = r.count * t.heads  # tiles of the same place in their request
        bound = unequal.counted(
            lambda i: steps_of_tile(r, t, s, floor(i / per_tile), p.causal), tiles + 0.0 * total, num_sms
        )
    if longest_first:
        return unequal.longest_first(total, bound, num_sms)
    return unequal.in_order(total, tiles, longest, bound, num_sms)


def _bound_of_requests(p: Attention, r: Requests, t: Tiling, s: Steps, num_sms: int) -> Number:
    """As `unequal.counted`, of requests that differ; Graham's bound where there are too many tiles to count."""
    if r.q.ndim == 1:
        return _bound_of_one(p, r, t, s, num_sms)
    names = ("rows", "columns", "packed", "heads")
    shape = np.broadcast_shapes(s.total.shape, *(np.shape(getattr(t, name)) for name in names))
    found = np.empty(shape[1])
    for i in range(shape[1]):
        one_t = Tiling(**{n: _column(getattr(t, n), i) for n in Tiling.__slots__})
        one_r = Requests(q=r.q[:, 0], kv=r.kv[:, 0], count=r.count[:, 0], differ=True)
        one_s = Steps(**{n: np.broadcast_to(getattr(s, n), shape)[:, i] for n in Steps.__slots__})
        found[i] = _bound_of_one(p, one_r, one_t, one_s, num_sms)
    return found


def _column(x: Number, i: int) -> Number:
    return float(x[i]) if is_array(x) else x


def _bound_of_one(p: Attention, r: Requests, t: Tiling, s: Steps, num_sms: int) -> float:
    tiles = np.broadcast_to(s.tiles, r.kv.shape)
    if tiles.sum() > _MOST_TILES or s.longest.max() > _MOST_STEPS:
        return float(r.total(s.total) * t.heads / num_sms + s.longest.max())
    if not p.causal:
        capped = np.broadcast_to(s.capped, r.kv.shape)
        return unequal.counted_by_length(capped, tiles * r.count * t.heads, num_sms)
    if s.longest.max() * len(tiles) < tiles.sum():
        return unequal.counted_as_long(_as_long(r, t, s, tiles), num_sms)
    counts = np.repeat(r.count * t.heads, tiles.astype(np.int64))
    return unequal.counted_by_length(tile_lengths(p, r, t, s), counts, num_sms)


def _as_long(r: Requests, t: Tiling, s: Steps, tiles: np.ndarray) -> np.ndarray:
    """How many tiles of a causal kernel, over all heads, have at least 0, 1, 2, ... steps."""
    number = np.arange(s.longest.max() + 1)[:, None]
    each = r.kv * t.packed - (number - 1.0) * (t.columns * t.packed)  # keys of a request's last tile beyond these steps
    each /= t.rows
    np.clip(np.ceil(each, out=each), 0.0, tiles, out=each)
    each *= number <= s.capped
    return np.asarray(each @ (r.count * t.heads))


def tile_lengths(p: Attention, r: Requests, t: Tiling, s: Steps) -> np.ndarray:
    """Steps of every tile of one head, row after row of requests, of each the last tile first."""
    each = np.broadcast_to(s.tiles, r.kv.shape).astype(np.int64)
    lengths = np.repeat(np.broadcast_to(s.capped, r.kv.shape), each)
    if not p.causal:
        return lengths
    first = np.cumsum(each) - each  # keys of tile j of a request, over heads: those of the request less j rows
    keys = np.repeat(r.kv * t.packed + first * t.rows, each) - np.arange(len(lengths)) * t.rows
    return np.asarray(np.minimum(np.ceil(keys / (t.columns * t.packed)), lengths))
