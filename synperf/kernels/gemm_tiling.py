"""Which tile and split-K a GEMM runs with: as given, else the feasible one of least cost.

The cost of a tiling is the time of the busiest SM on its slowest own pipe (math, shared memory, its port to L2),
or of L2 for all SMs. DRAM traffic does not depend on the tile here, so the least cost is the least time. It never
falls when m, n, k or batch grows, and never rises with more SMs or faster ones: the cost of no candidate does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div, is_array, round_up, where
from .base import take, widened
from .gemm_call import Gemm
from .gemm_costs import (
    Candidate,
    Candidates,
    candidates,
    forced_cost,
    given_candidates,
    has_few,
    nonempty,
    num_tasks,
    split_cost,
    split_count,
    terms,
    whole_cost,
)
from .gemm_tiles import Tile
from .gemm_traits import traits

_GIVEN = ("tile_m", "tile_n", "tile_k")


@dataclass(slots=True, kw_only=True)
class Tiling:
    """One tiling per call: numbers, or columns.

    `tasks` are the tiles, rounded up to whole clusters, times `split_k`; `k_per_task` is in whole steps of
    `tile_k`; `reduction_s` is the launch that sums the slices of split-K, 0 without. `source` says whether the
    tile was given or chosen; `tile` is the variant of a single call.
    """

    tile_m: Number
    tile_n: Number
    tile_k: Number
    cluster_m: Number
    cluster_n: Number
    split_k: Number
    tiles: Number
    tasks: Number
    k_per_task: Number
    ctas_per_sm: Number
    reduction_s: Number
    source: str
    tile: Tile | None


def choose(p: Gemm, gpu: GPU) -> Tiling:
    """The tiling of each call: given fields as they are, the others by least cost.

    Raises:
        UnsupportedError: a given tile does not fit the GPU, or the GPU lacks the format.
    """
    out_dtype, kernel = p.out_dtype or p.dtype, traits(gpu, p.dtype, p.engine, p.kernel)
    given = (p.tile_m, p.tile_n, p.tile_k)
    if p.tile_m is None and p.tile_n is None and p.tile_k is None:
        source = "least cost" if p.split_k is None else "partly given"
        return _least(p, gpu, candidates(gpu, p.dtype, out_dtype, kernel), source)
    if any(is_array(value) for value in given):
        return _by_tile(p, gpu, given)
    source = "partly given" if any(value is None for value in given) else "given"
    return _least(p, gpu, given_candidates(gpu, p.dtype, out_dtype, kernel, *given), source)


def _least(p: Gemm, gpu: GPU, found: Candidates, source: str) -> Tiling:
    m, n, k, batch, num_sms = p.m, p.n, p.k, p.batch, gpu.num_sms
    macs = 1.0 * m * n * k * batch
    if is_array(macs) or is_array(p.split_k):
        return _least_of_many(p, gpu, found.every, source)
    left = found.of_one(m, n)
    if p.split_k is not None:
        return _least_forced(p, gpu, left, source)
    best, best_cost, best_area, best_slices = left[0], inf, inf, 1.0
    steps = ceil(k / best.tile_k)
    for c in left:  # `num_tasks` and `whole_cost`, bit for bit, without their calls: every GEMM tries several tiles
        if macs * c.bound_s > best_cost:
            continue
        own_s = steps * c.tile_k_s
        if own_s > best_cost and (not c.may_split or c.reduction_s > best_cost):
            continue
        tile_m, tile_n = c.tile_m, c.tile_n
        tiles_m, tiles_n = ceil(m / tile_m), ceil(n / tile_n)
        if c.is_cluster:
            tiles_m, tiles_n = ceil(tiles_m / c.cluster_m) * c.cluster_m, ceil(tiles_n / c.cluster_n) * c.cluster_n
        num_tiles = tiles_m * tiles_n * batch
        waves, may_split = ceil(num_tiles / num_sms), num_tiles * 2 < num_sms and c.may_split
        cost = waves * own_s
        if cost > best_cost and (not may_split or c.reduction_s > best_cost):
            continue
        rows, columns = m if m <= tile_m else tile_m, n if n <= tile_n else tile_n
        values, slices = rows * columns, 1.0
        port_s = (rows * c.port_row_s + columns * c.port_column_s) * k + values * c.port_value_s
        if port_s > own_s:
            cost = waves * port_s
        l2_s = num_tiles * ((rows * c.row_s + columns * c.column_s) * k + values * c.value_s)
        if l2_s > cost:
            cost = l2_s
        if may_split and c.reduction_s <= cost and c.reduction_s <= best_cost:
            cost, slices = _cheaper(p, c, num_tiles, num_sms, cost)
        if cost <= best_cost:
            area = num_tiles * tile_m * tile_n  # of equal costs the one that pads less
            if cost < best_cost or area <= best_area:
                best, best_cost, best_area, best_slices = c, cost, area, slices
    return _tiling(p, best, best_slices, source, best.tile)


def _cheaper(p: Gemm, c: Candidate, num_tiles: float, num_sms: int, whole: float) -> tuple[float, float]:
    """Cost and slices of one call: the cheaper of no split, which costs `whole`, and one wave of slices."""
    t = terms(p, c)
    slices = split_count(t[0], num_tiles, num_sms)
    split = split_cost(p, c, t, num_tiles, slices, num_sms)
    return (split, slices) if split < whole else (whole, 1.0)


def _least_forced(p: Gemm, gpu: GPU, left: tuple[Candidate, ...], source: str) -> Tiling:
    """The tiling of one call whose slices are given."""
    best, least = left[0], (inf, inf)
    for c in left:
        num_tiles = num_tasks(p, c)
        own = (forced_cost(p, c, num_tiles, gpu.num_sms), num_tiles * c.tile_m * c.tile_n)
        if own <= least:
            best, least = c, own
    return _tiling(p, best, float(p.split_k), source, best.tile)


def _least_of_many(p: Gemm, gpu: GPU, found: tuple[Candidate, ...], source: str) -> Tiling:
    """As `_least`: each candidate is tried on the calls whose bounds leave it a chance."""
    size = max(len(x) for x in (p.m, p.n, p.k, p.batch, p.split_k) if is_array(x))
    p = widened(p, size, ("m", "n", "k"))
    macs, is_few = 1.0 * p.m * p.n * p.k * p.batch, has_few(p.m, p.n)
    steps = {tile_k: ceil_div(p.k, tile_k) for tile_k in {c.tile_k for c in found}}
    least = _Least(cost=np.full(size, inf), area=np.full(size, inf), at=np.zeros(size, np.intp), slices=np.ones(size))
    for i, c in enumerate(found):
        chance = macs * c.bound_s <= least.cost
        if p.split_k is None:
            own = steps[c.tile_k] * c.tile_k_s <= least.cost
            chance &= (own | (c.reduction_s <= least.cost)) if c.may_split else own
        if c.is_small:
            chance &= is_few
        if c.spare_m or c.spare_n:
            chance &= (p.m > c.spare_m) & (p.n > c.spare_n)
        rows = np.flatnonzero(chance)
        if len(rows):
            part = take(p, rows)
            num_tiles = num_tasks(part, c)
            cost, slices = _cheaper_of_many(part, c, num_tiles, gpu.num_sms)
            least.improve(rows, cost, num_tiles * (c.tile_m * c.tile_n), i, slices)
    return _tiling(p, _Columns.of(found, least.at), least.slices, source, None)


class _Least(NamedTuple):
    """The candidate of least cost so far, and of equal costs the one that pads less, for each call."""

    cost: np.ndarray
    area: np.ndarray
    at: np.ndarray
    slices: np.ndarray

    def improve(self, rows: np.ndarray, cost: np.ndarray, area: np.ndarray, at: int, slices: Number) -> None:
        """Takes a candidate for those of the rows that it betters."""
        least = self.cost[rows]
        better = (cost < least) | ((cost == least) & (area <= self.area[rows]))
        chosen = rows[better]
        self.cost[chosen], self.area[chosen], self.at[chosen] = cost[better], area[better], at
        self.slices[chosen] = slices[better] if is_array(slices) else slices


def _cheaper_of_many(p: Gemm, c: Candidate, num_tiles: np.ndarray, num_sms: int) -> tuple[np.ndarray, Number]:
    """(cost, slices) over columns of calls: as `_cheaper` has them."""
    if p.split_k is not None:
        return forced_cost(p, c, num_tiles, num_sms), p.split_k
    t = terms(p, c)
    cost = whole_cost(p, c, t, num_tiles, num_sms)
    few = np.flatnonzero((num_tiles * 2 < num_sms) & (c.reduction_s <= cost) & c.may_split)
    if not len(few):
        return cost, 1.0
    own, own_tiles = tuple(x[few] for x in t), num_tiles[few]
    own_slices = split_count(own[0], own_tiles, num_sms)
    split = split_cost(take(p, few), c, own, own_tiles, own_slices, num_sms)
    better = split < cost[few]
    slices = np.ones(len(cost))
    cost[few[better]], slices[few[better]] = split[better], own_slices[better]
    return cost, slices


class _Columns(NamedTuple):
    """The chosen candidate of each call, as columns."""

    tile_m: np.ndarray
    tile_n: np.ndarray
    tile_k: np.ndarray
    cluster_m: np.ndarray
    cluster_n: np.ndarray
    ctas_per_sm: np.ndarray
    reduction_s: np.ndarray
    is_cluster: bool  # whether any is

    @classmethod
    def of(cls, found: tuple[Candidate, ...], index: np.ndarray) -> _Columns:
        columns = {name: np.array([getattr(c, name) for c in found])[index] for name in cls._fields[:-1]}
        return cls(**columns, is_cluster=any(c.is_cluster for c in found))


def _tiling(p: Gemm, c: Candidate | _Columns, slices: Number, source: str, tile: Tile | None) -> Tiling:
    tiles_m, tiles_n, steps = ceil_div(p.m, c.tile_m), ceil_div(p.n, c.tile_n), ceil_div(p.k, c.tile_k)
    tiles = tiles_m * tiles_n * p.batch
    tasks = round_up(tiles_m, c.cluster_m) * round_up(tiles_n, c.cluster_n) * p.batch if c.is_cluster else tiles
    k_per_task, reduction_s, is_split = steps * c.tile_k, 0.0, is_array(slices) or slices != 1.0
    if is_split:
        slices = nonempty(p.k, c.tile_k, slices)
        tasks, k_per_task = tasks * slices, ceil_div(steps, slices) * c.tile_k
        reduction_s = where(slices > 1, c.reduction_s, 0.0)
    return Tiling(
        tile_m=c.tile_m,
        tile_n=c.tile_n,
        tile_k=c.tile_k,
        cluster_m=c.cluster_m,
        cluster_n=c.cluster_n,
        split_k=slices,
        tiles=tiles,
        tasks=tasks,
        k_per_task=k_per_task,
        ctas_per_sm=c.ctas_per_sm,
        reduction_s=reduction_s,
        source=source,
        tile=tile,
    )


def _by_tile(p: Gemm, gpu: GPU, given: tuple[Number, Number, Number]) -> Tiling:
    """Columns of given tiles: the rows of each distinct tile are chosen for together."""
    size = max(len(x) for x in (p.m, p.n, p.k, p.batch, p.split_k, *given) if is_array(x))
    column = {name: np.broadcast_to(0 if v is None else v, size) for name, v in zip(_GIVEN, given, strict=True)}
    rows = np.stack(list(column.values()), axis=1).astype(np.int64)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    parts: dict[str, np.ndarray] = {name: np.empty(size) for name in _TILING_COLUMNS}
    for i, tile in enumerate(distinct.tolist()):
        chosen = np.flatnonzero(which.ravel() == i)
        extents: dict[str, Any] = {
            name: np.broadcast_to(getattr(p, name), size)[chosen] for name in ("m", "n", "k", "batch")
        }
        split = None if p.split_k is None else np.broadcast_to(p.split_k, size)[chosen]
        tiles_given: dict[str, Any] = {name: value or None for name, value in zip(_GIVEN, tile, strict=True)}
        part = choose(replace(p, **extents, split_k=split, **tiles_given), gpu)
        for name in _TILING_COLUMNS:
            parts[name][chosen] = getattr(part, name)
    return Tiling(**parts, source="given", tile=None)


_TILING_COLUMNS = tuple(f.name for f in fields(Tiling) if f.name not in ("source", "tile"))
