"""Loads under a power law, simulated: what random routings give the busiest rank on average.

An expert's share is drawn from p(x) ~ x^-alpha on [1, 0.8 tokens], or on [0.01, 2] where there are no more rows than
experts. Shares are scaled to all rows and rounded; no expert has more rows than tokens; what that cuts off, and what
rounding lost, goes to the least loaded expert of each rank in turn, and what rounding added leaves the most loaded.
Source: `_generate_power_law_distribution` of aiconfigurator's collector/helper.py (Apache-2.0), which times the mean of
five routings. Ours is the mean of more, with one seed: answers repeat, and are near to what five give on average.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

BLOCKS = (16, 32, 64, 128)  # rows of a tile
NUM_DRAWS = 16
_SEED = 0
_MOST_BATCH = 2_000_000  # values of one pass of array arithmetic


class Curves(NamedTuple):
    """Rows, active experts, rows of the hottest, and tiles by `BLOCKS`, each over `tokens`."""

    tokens: np.ndarray  # (G,)
    values: np.ndarray  # (3 + len(BLOCKS), G), rising along G


@lru_cache(maxsize=4096)
def curves(experts: int, topk: int, ep: int, alpha: float) -> Curves:
    """Loads of the busiest of `ep` ranks for any number of tokens."""
    uniform = _uniform(experts)
    step = max(1, _MOST_BATCH // uniform.size)
    parts = [_grid()[start : start + step] for start in range(0, len(_grid()), step)]
    values = np.concatenate([_statistics(part, uniform, topk, ep, alpha) for part in parts], axis=1)
    return Curves(_grid(), np.maximum.accumulate(values, axis=1))  # a mean of few draws may dip


def _uniform(experts: int) -> np.ndarray:
    """A number from 0 to 1 for each expert of each draw."""
    return np.random.default_rng(_SEED).random((NUM_DRAWS, experts))


def sorted_means(tokens: int, experts: int, topk: int, ep: int, alpha: float, block: int) -> tuple[np.ndarray, ...]:
    """Of each expert of the busiest rank, rows and rows in whole blocks; of each rank, rows: most first, then averaged.

    Read between the grid's points as the curves are, but not kept from falling: where a mean dips, sums are below.
    """
    grid = _grid()
    after = min(max(int(np.searchsorted(grid, tokens)), 1), len(grid) - 1)
    near = grid[after - 1 : after + 1]
    counts = _routed(near[:, None, None], _uniform(experts), topk, ep, alpha)
    own = np.sort(_busiest(counts), axis=2)
    found = (own, np.ceil(own / block) * block, np.sort(counts.sum(axis=3), axis=2))
    share = (tokens - near[0]) / (near[1] - near[0])
    return tuple(((1.0 - share) * x[0] + share * x[1]).mean(axis=0)[::-1] for x in found)


@lru_cache(maxsize=1)
def _grid() -> np.ndarray:
    """Token counts: four per octave up to those of measured tables, 131,072, beyond it one."""
    fine = [2**i * quarter // 4 for i in range(17) for quarter in (4, 5, 6, 7) if 2**i * quarter % 4 == 0]
    return np.array([*fine, *(2**i for i in range(17, 32))], dtype=np.float64)


def _statistics(tokens: np.ndarray, uniform: np.ndarray, topk: int, ep: int, alpha: float) -> np.ndarray:
    """(3 + blocks, tokens): means over the draws."""
    counts = _routed(tokens[:, None, None], uniform, topk, ep, alpha)  # (G, D, ep, experts of a rank)
    own = _busiest(counts)
    found = [own.sum(axis=2), (own > 0).sum(axis=2), own.max(axis=2), *(np.ceil(own / b).sum(axis=2) for b in BLOCKS)]
    return np.stack([x.mean(axis=1) for x in found])


def _busiest(counts: np.ndarray) -> np.ndarray:
    """Rows of the experts of the rank that has most, (G, D, experts of a rank)."""
    rank = counts.sum(axis=3).argmax(axis=2)[:, :, None, None]
    return np.take_along_axis(counts, rank, axis=2)[:, :, 0]


def _routed(tokens: np.ndarray, uniform: np.ndarray, topk: int, ep: int, alpha: float) -> np.ndarray:
    """Rows of every expert, (G, D, ep, experts of a rank), all whole."""
    experts = uniform.shape[1]
    many = tokens * topk > experts
    shares = _sampled(uniform, alpha, np.where(many, 1.0, 0.01), np.where(many, 0.8 * tokens, 2.0))
    target = tokens * topk
    counts = np.minimum(np.rint(shares / shares.sum(axis=2, keepdims=True) * target), tokens)
    ranks = counts.reshape(*counts.shape[:2], ep, experts // ep)
    off = (target - counts.sum(axis=2, keepdims=True))[:, :, 0]
    most = tokens[:, :, None]
    ranks = _poured(ranks, np.maximum(off, 0.0), most)
    room = _poured(most - ranks, np.maximum(-off, 0.0), most)  # a row that leaves is room that is poured
    return np.asarray(most - room)


def _sampled(uniform: np.ndarray, alpha: float, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Inverse of the cumulative distribution; ends that coincide or cross, for one token, are taken as they are."""
    if alpha == 1.0:
        return np.asarray(least * (most / least) ** uniform)
    power = 1.0 - alpha
    low, high = least**power, most**power
    return np.asarray(((high - low) * uniform + low) ** (1.0 / power))


def _poured(ranks: np.ndarray, volume: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Adds `volume` (G, D) whole rows: to ranks in turn, and there to the expert that has least, none above `most`."""
    left = volume.copy()
    while left.any():
        room = (most - ranks).sum(axis=3)
        open_ranks = room > 0
        turn = np.cumsum(open_ranks, axis=2) - 1
        number = np.maximum(open_ranks.sum(axis=2, keepdims=True), 1)
        each, extra = np.divmod(left[:, :, None], number)
        given = np.where(open_ranks, np.minimum(each + (turn < extra), room), 0.0)
        ranks = _filled(ranks, given)
        left = left - given.sum(axis=2)
    return ranks


def _filled(ranks: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Each rank's experts after `given` rows went, one by one, to the expert with least; sorted within the rank."""
    level = np.sort(ranks, axis=3)
    number = np.arange(1.0, level.shape[3] + 1)
    cost = number * level - np.cumsum(level, axis=3)  # rows that raise the first n to the level of the n-th
    raised = (cost <= given[..., None]).sum(axis=3, keepdims=True)  # the first so many end level
    spent = np.take_along_axis(cost, raised - 1, axis=3)
    top = np.take_along_axis(level, raised - 1, axis=3)
    up, extra = np.divmod(given[..., None] - spent, raised)
    return np.where(number <= raised, top + up + (number <= extra), level)
