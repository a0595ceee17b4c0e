"""How many rows the experts of the busiest rank get: balanced, by a power law, or as counted.

Source: `balanced_logits` and `_generate_power_law_distribution` of the collector of aiconfigurator (Apache-2.0), which
made the routings that its measured rows were timed with; the counts themselves are not stored there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..numeric import Number, ceil_div, floor, is_array, maximum, where
from .moe_call import MOST_EXPERTS, FusedMoe, alpha_of
from .moe_power_law import BLOCKS, Curves, curves


@dataclass(slots=True, kw_only=True)
class Loads:
    """Rows of the busiest rank: numbers, or columns; a mean over routings need not be whole.

    `active` are its experts that have any row, `hottest` the rows of the one that has most. `tiles` counts blocks of so
    many rows when each expert's last one is padded.
    """

    rows: Number
    active: Number
    hottest: Number
    tiles: dict[int, Number]


def loads(p: FusedMoe) -> Loads:
    """Loads of each call: as given, else by the distribution."""
    keys = (p.tokens, p.experts, p.topk, p.ep)
    if any(is_array(key) for key in keys):
        if p.tokens_per_expert is not None:
            return _by_rank(p.tokens_per_expert, np.broadcast_arrays(*keys)[3])
        return _by_distribution(*keys, p.distribution)
    return _of_one(*keys, p.distribution, p.tokens_per_expert)


@lru_cache(maxsize=4096)
def _of_one(tokens: int, experts: int, topk: int, ep: int, distribution: str, counts: tuple[int, ...] | None) -> Loads:
    """Loads of one routing, which every function of the family asks for."""
    return _by_distribution(tokens, experts, topk, ep, distribution) if counts is None else of_busiest_rank(counts, ep)


def _by_distribution(tokens: Number, experts: Number, topk: Number, ep: Number, distribution: str) -> Loads:
    alpha = alpha_of(distribution)
    if alpha is None:
        return balanced(tokens, experts, topk, ep)
    return power_law(tokens, experts, topk, ep, alpha)


def balanced(tokens: Number, experts: Number, topk: Number, ep: Number) -> Loads:
    """Round robin: all experts have as many rows, or one more, and all ranks as many of these experts, or one more."""
    routed, own = 1.0 * tokens * topk, experts / ep
    least = floor(routed / experts)
    spare = maximum(routed - least * experts, 0.0)
    more = ceil_div(spare, ep)
    return Loads(
        rows=least * own + more,
        active=where(least > 0, own, more),
        hottest=where(spare > 0, least + 1.0, least),
        tiles={b: more * ceil_div(least + 1.0, b) + (own - more) * ceil_div(least, b) for b in BLOCKS},
    )


@lru_cache(maxsize=256)
def of_busiest_rank(counts: tuple[int, ...], ep: int = 1) -> Loads:
    """Loads of given rows per expert, of which each rank has as many neighbours; that with most rows is meant."""
    ranks = np.asarray(counts, dtype=np.float64).reshape(ep, -1)
    own = ranks[int(ranks.sum(axis=1).argmax())]
    return Loads(
        rows=float(own.sum()),
        active=float((own > 0).sum()),
        hottest=float(own.max()),
        tiles={b: float(np.ceil(own / b).sum()) for b in BLOCKS},
    )


def _by_rank(counts: tuple[int, ...], ep: np.ndarray) -> Loads:
    """Columns of one routing over as many ranks as each call has."""
    distinct, which = np.unique(ep, return_inverse=True)
    parts = [of_busiest_rank(counts, int(one)) for one in distinct]
    found = np.array([[x.rows, x.active, x.hottest, *x.tiles.values()] for x in parts])
    return _loads(list(found[which.ravel()].T))


def power_law(tokens: Number, experts: Number, topk: Number, ep: Number, alpha: float) -> Loads:
    """Mean loads over random routings, on a grid of tokens and linear between its points; never falling in tokens."""
    keys = (experts, topk, ep)
    if not any(is_array(key) for key in keys):
        return _loads(_read(curves(int(experts), int(topk), int(ep), alpha), tokens))
    size = max(len(key) for key in (tokens, *keys) if is_array(key))
    tokens = np.broadcast_to(1.0 * tokens, size)
    packed = np.zeros(size, dtype=np.int64)
    for key in keys:
        packed = packed * _PACK + np.asarray(key, dtype=np.int64)
    distinct, which = np.unique(packed, return_inverse=True)
    ends = np.cumsum(np.bincount(which))[:-1]
    found = np.empty((3 + len(BLOCKS), size))
    for one, rows in zip(distinct.tolist(), np.split(np.argsort(which, kind="stable"), ends), strict=True):
        known = curves(one // _PACK**2, one // _PACK % _PACK, one % _PACK, alpha)
        found[:, rows] = _read(known, tokens[rows])
    return _loads(list(found))


_PACK = 2 * MOST_EXPERTS  # above topk and ep, which experts bounds


def _read(known: Curves, tokens: Number) -> list[Number]:
    found = [np.interp(tokens, known.tokens, curve) for curve in known.values]
    return found if is_array(tokens) else [float(x) for x in found]


def _loads(found: Sequence[Number]) -> Loads:
    rows, active, hottest, *tiles = found
    return Loads(rows=rows, active=active, hottest=hottest, tiles=dict(zip(BLOCKS, tiles, strict=True)))
