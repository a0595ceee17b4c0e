"""Rows of each expert of the busiest rank and of each rank, for a drawing: those that `moe_loads` counts."""

from __future__ import annotations

import numpy as np

from .moe_call import FusedMoe, alpha_of
from .moe_power_law import sorted_means
from .one_by_one import Experts


def experts_of(p: FusedMoe, tile_m: int) -> Experts:
    """Experts of one call, with its tiles of `tile_m` rows: as given, or by the distribution."""
    if p.tokens_per_expert is not None:
        return of_counts(p.tokens_per_expert, p.ep, tile_m)
    alpha = alpha_of(p.distribution)
    if alpha is None:
        return of_counts(_round_robin(p.tokens * p.topk, p.experts, p.ep), p.ep, tile_m)
    rows, padded, ranks = sorted_means(p.tokens, p.experts, p.topk, p.ep, alpha, tile_m)
    return Experts(rows=rows, padded=padded, ranks=ranks)


def of_counts(counts: tuple[int, ...] | np.ndarray, ep: int, tile_m: int) -> Experts:
    """Experts of given rows, of which each rank has as many neighbours."""
    ranks = np.asarray(counts, dtype=np.float64).reshape(ep, -1)
    totals = ranks.sum(axis=1)
    rows = np.sort(ranks[int(totals.argmax())])[::-1]
    return Experts(rows=rows, padded=np.ceil(rows / tile_m) * tile_m, ranks=np.sort(totals)[::-1])


def _round_robin(rows: int, experts: int, ep: int) -> np.ndarray:
    """Rows of each expert where all have as many, or one more, and ranks take turns at those with one more."""
    least, more = divmod(rows, experts)
    turn = np.arange(experts).reshape(-1, ep).T.ravel()
    return np.asarray(least + (turn < more), dtype=np.float64)
