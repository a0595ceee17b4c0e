"""Which tile and split-K a GEMM runs with: as given, else the feasible one of least cost.

The cost of a tiling is the time of the busiest SM on its slowest own pipe (math, shared memory, its port to L2),
or of L2 for all SMs. DRAM traffic does not depend on the tile here, so the least cost is the least time. It never
falls when m, n, k or batch grows, and never rises with more SMs or faster ones: the cost of no candidate does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div, is_array, round_up, where
from .gemm_call import Gemm
from .gemm_costs import (
    Candidate,
    candidates,
    fits_extents,
    forced_cost,
    given_candidates,
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
    if all(value is None for value in given):
        source = "least cost" if p.split_k is None else "partly given"
        return _least(p, gpu, candidates(gpu, p.dtype, out_dtype, kernel), source)
    if any(is_array(value) for value in given):
        return _by_tile(p, gpu, given)
    source = "partly given" if any(value is None for value in given) else "given"
    return _least(p, gpu, given_candidates(gpu, p.dtype, out_dtype, kernel, *given), source)


def _least(p: Gemm, gpu: GPU, found: tuple[Candidate, ...], source: str) -> Tiling:
    if any(is_array(x) for x in (p.m, p.n, p.k, p.batch, p.split_k)):
        return _least_of_many(p, gpu, found, source)
    best, best_cost, best_area, best_slices = found[0], inf, inf, 1.0
    macs = 1.0 * p.m * p.n * p.k * p.batch
    for c in found:
        if macs * c.bound_s >= best_cost or p.m <= c.spare_m or p.n <= c.spare_n or not fits_extents(p, c):
            continue
        num_tiles = num_tasks(p, c)
        cost, slices = _cheaper(p, c, num_tiles, gpu.num_sms, best_cost)
        if cost <= best_cost:
            area = num_tiles * c.tile_m * c.tile_n  # of equal costs the one that pads less
            if cost < best_cost or area < best_area:
                best, best_cost, best_area, best_slices = c, cost, area, slices
    return _tiling(p, best, best_slices, source, best.tile)


def _cheaper(p: Gemm, c: Candidate, num_tiles: float, num_sms: int, least: float) -> tuple[float, float]:
    """Cost and slices of one call: as given, else the cheaper of no split and one wave of slices.

    What cannot be as low as `least` is not looked at: one task over all of k, and a reduction alone, are bounds.
    """
    if p.split_k is not None:
        return forced_cost(p, c, num_tiles, num_sms), float(p.split_k)
    t = terms(p, c)
    cost = whole_cost(p, c, t, num_tiles, num_sms) if p.k * c.step_s <= least * (1 + 1e-9) else inf
    if c.may_split and num_tiles * 2 < num_sms and c.reduction_s <= min(cost, least):
        slices = split_count(t[0], num_tiles, num_sms)
        split = split_cost(p, c, t, num_tiles, slices, num_sms)
        if split < cost:
            return split, slices
    return cost, 1.0


def _least_of_many(p: Gemm, gpu: GPU, found: tuple[Candidate, ...], source: str) -> Tiling:
    size = max(len(x) for x in (p.m, p.n, p.k, p.batch, p.split_k) if is_array(x))
    best_cost, best_area = np.full(size, inf), np.full(size, inf)
    best, best_slices = np.zeros(size, dtype=np.intp), np.ones(size)
    for i, c in enumerate(found):
        num_tiles, fits = num_tasks(p, c), fits_extents(p, c)
        if not np.any(fits):
            continue
        area = num_tiles * c.tile_m * c.tile_n
        for cost, slices in _options(p, c, num_tiles, gpu.num_sms):
            better = ((cost < best_cost) | ((cost == best_cost) & (area < best_area))) & fits
            best_cost = np.where(better, cost, best_cost)
            best_area = np.where(better, area, best_area)
            best = np.where(better, i, best)
            best_slices = np.where(better, slices, best_slices)
    return _tiling(p, _Columns.of(found, best), best_slices, source, None)


def _options(p: Gemm, c: Candidate, num_tiles: Number, num_sms: int) -> Iterator[tuple[Number, Number]]:
    """(cost, slices) of a candidate's ways over columns of calls: as `_cheaper` has them."""
    if p.split_k is not None:
        yield forced_cost(p, c, num_tiles, num_sms), p.split_k
        return
    t = terms(p, c)
    yield whole_cost(p, c, t, num_tiles, num_sms), 1.0
    few = num_tiles * 2 < num_sms
    if c.may_split and np.any(few):
        slices = split_count(t[0], num_tiles, num_sms)
        yield where(few, split_cost(p, c, t, num_tiles, slices, num_sms), inf), slices


class _Columns(NamedTuple):
    """The chosen candidate of each call, as columns."""

    tile_m: np.ndarray
    tile_n: np.ndarray
    tile_k: np.ndarray
    cluster_m: np.ndarray
    cluster_n: np.ndarray
    ctas_per_sm: np.ndarray
    reduction_s: np.ndarray

    @classmethod
    def of(cls, found: tuple[Candidate, ...], index: np.ndarray) -> _Columns:
        return cls(*(np.array([getattr(c, name) for c in found])[index] for name in cls._fields))


def _tiling(p: Gemm, c: Candidate | _Columns, slices: Number, source: str, tile: Tile | None) -> Tiling:
    tiles_m, tiles_n = ceil_div(p.m, c.tile_m), ceil_div(p.n, c.tile_n)
    slices = nonempty(p.k, c.tile_k, slices)
    return Tiling(
        tile_m=c.tile_m,
        tile_n=c.tile_n,
        tile_k=c.tile_k,
        cluster_m=c.cluster_m,
        cluster_n=c.cluster_n,
        split_k=slices,
        tiles=tiles_m * tiles_n * p.batch,
        tasks=round_up(tiles_m, c.cluster_m) * round_up(tiles_n, c.cluster_n) * p.batch * slices,
        k_per_task=ceil_div(ceil_div(p.k, c.tile_k), slices) * c.tile_k,
        ctas_per_sm=c.ctas_per_sm,
        reduction_s=where(slices > 1, c.reduction_s, 0.0),
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
