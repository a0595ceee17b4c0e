"""Software schedulers: persistent workers, one or more per SM, take tiles by a rule of the kernel.

Source: the persistent, ping-pong and cooperative GEMM of CUTLASS 3 (static stride), stream-K and queue kernels
(dynamic), FlashAttention-3 and FlashInfer (longest first), FlashMLA (evenly).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numeric import Number, ceil_div, minimum
from .hardware import simulate
from .placement import Placement

_SLIVER = 1e-9  # of a worker's work: what rounding may leave between two ends that are one


def num_workers(tiles: Number, num_sms: int, ctas_per_sm: Number = 1) -> Number:
    """CTAs of a persistent launch: as many as the GPU holds, never more than there are tiles."""
    return minimum(tiles, num_sms * ctas_per_sm)


def busiest_worker_tiles(tiles: Number, workers: Number) -> Number:
    """Tiles of the worker that has most, of identical ones, under static stride or a queue alike."""
    return ceil_div(tiles, workers)


def static_stride(costs: Sequence[float], workers: int) -> Placement:
    """Worker w takes tiles w, w + workers, w + 2 workers, ... whatever they cost."""
    cost = np.asarray(costs, dtype=np.float64)
    worker = np.arange(len(cost)) % workers
    start = np.zeros(len(cost))
    for w in range(min(workers, len(cost))):
        start[w::workers] = np.concatenate(([0.0], np.cumsum(cost[w::workers])[:-1]))
    return Placement(sm=worker, start=start, cost=cost, num_sms=workers)


def queue(costs: Sequence[float], workers: int) -> Placement:
    """Workers that are free take the next tile from one counter: list scheduling in the given order."""
    return simulate(costs, workers)


def longest_first(costs: Sequence[float], workers: int) -> Placement:
    """List scheduling in order of falling cost (LPT); entries of the result stay in the order of `costs`.

    At most 4/3 - 1/(3 workers) of the best makespan. Source: Graham, SIAM J. Appl. Math. 17(2), 1969.
    """
    cost = np.asarray(costs, dtype=np.float64)
    order = np.argsort(-cost, kind="stable")
    placed = simulate(cost[order].tolist(), workers)
    sm = np.empty(len(cost), dtype=np.int64)
    start = np.empty(len(cost))
    sm[order], start[order] = placed.sm, placed.start
    return Placement(sm=sm, start=start, cost=cost, num_sms=workers)


def evenly(costs: Sequence[float], workers: int, most: float) -> Placement:
    """Tasks in a row, cut where a worker has `most`: an entry per piece; the last with work may have less."""
    cost = np.asarray(costs, dtype=np.float64)
    ends = np.cumsum(cost)
    cuts = np.union1d(ends, most * np.arange(1, min(workers, ceil_div(ends[-1], most))))
    starts = np.concatenate(([0.0], cuts[:-1]))
    kept = cuts - starts > _SLIVER * most  # an end of a task that rounding has beside a worker's
    starts, pieces = starts[kept], (cuts - starts)[kept]
    worker = np.minimum((starts + pieces / 2) / most, workers - 1).astype(np.int64)
    return Placement(sm=worker, start=starts - worker * most, cost=pieces, num_sms=workers)
