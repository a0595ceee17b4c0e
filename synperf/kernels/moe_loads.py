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
from .moe_call import FusedMoe, alpha_of
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
    if p.tokens_per_expert is not None:
        return of_busiest_rank(p.tokens_per_expert, int(p.ep))
    alpha = alpha_of(p.distribution)
    return balanced(p.tokens, p.experts, p.topk, p.ep) if alpha is None else power_law(p, alpha)


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


def power_law(p: FusedMoe, alpha: float) -> Loads:
    """Mean loads over random routings, on a grid of tokens and linear between its points; never falling in tokens."""
    keys = (p.experts, p.topk, p.ep)
    if not any(is_array(key) for key in keys):
        known = curves(int(p.experts), int(p.topk), int(p.ep), alpha)
        return _loads(_read(known, p.tokens))
    size = max(len(key) for key in (p.tokens, *keys) if is_array(key))
    tokens, table = np.broadcast_to(1.0 * p.tokens, size), np.stack(np.broadcast_arrays(*keys, np.zeros(size))[:3])
    distinct, which = np.unique(table.astype(np.int64), axis=1, return_inverse=True)
    found = np.empty((3 + len(BLOCKS), size))
    for i, (experts, topk, ep) in enumerate(distinct.T.tolist()):
        rows = np.flatnonzero(which.ravel() == i)
        found[:, rows] = _read(curves(experts, topk, ep, alpha), tokens[rows])
    return _loads(list(found))


def _read(known: Curves, tokens: Number) -> list[Number]:
    found = [np.interp(tokens, known.tokens, curve) for curve in known.values]
    return found if is_array(tokens) else [float(x) for x in found]


def _loads(found: Sequence[Number]) -> Loads:
    rows, active, hottest, *tiles = found
    return Loads(rows=rows, active=active, hottest=hottest, tiles=dict(zip(BLOCKS, tiles, strict=True)))
