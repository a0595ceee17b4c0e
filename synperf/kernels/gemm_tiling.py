"""Which tile and split-K a GEMM runs with: as given, else the feasible one of least cost.

The cost of a tiling is the time of the busiest SM on its slowest own pipe (math, L2 or shared memory). DRAM
traffic does not depend on the tile here, so the least cost is the least time, and it never falls when m, n, k
or batch grows: the cost of each candidate does not, and so their minimum does not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, floor, is_array, maximum, minimum, round_up, where
from .gemm_tiles import Tile, build, default_tile_k, is_persistent, tiles

if TYPE_CHECKING:
    from .gemm import Gemm

PARTIAL_BYTES = 8.0  # a split-K partial sum is written once and read once, in fp32
_GIVEN = ("tile_m", "tile_n", "tile_k")


@dataclass(slots=True, kw_only=True)
class Tiling:
    """One tiling per call: numbers, or columns.

    `tasks` are the tiles, rounded up to whole clusters, times `split_k`; `k_per_task` is in whole steps of
    `tile_k`. `source` says whether the tile was given or chosen; `tile` is the variant of a single call.
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
    source: str
    tile: Tile | None


class _Candidate(NamedTuple):
    """A tile with its constants in seconds, so that the cost of one call is a few multiplications."""

    tile_m: float
    tile_n: float
    tile_k: float
    cluster_m: float
    cluster_n: float
    step_s: float  # one value of k in one task: the slower of math and shared memory
    row_s: float  # one value of k of one row of A, through L2
    column_s: float  # one value of k of one column of B
    value_s: float  # writing one value of C
    partial_s: float  # writing and reading one fp32 partial sum, and writing C
    may_split: bool
    ctas_per_sm: float
    tile: Tile


def choose(p: Gemm, gpu: GPU) -> Tiling:
    """The tiling of each call: given fields as they are, the others by least cost.

    Raises:
        UnsupportedError: a given tile does not fit the GPU, or the GPU lacks the format.
    """
    out_dtype = p.out_dtype or p.dtype
    given = (p.tile_m, p.tile_n, p.tile_k)
    if given == (None, None, None):
        return _least(p, gpu, candidates(gpu, p.dtype, out_dtype), "least cost")
    if any(is_array(value) for value in given):
        return _by_tile(p, gpu, given)
    source = "partly given" if None in given else "given"
    return _least(p, gpu, given_candidates(gpu, p.dtype, out_dtype, *given), source)


@lru_cache(maxsize=256)
def candidates(gpu: GPU, dtype: DType, out_dtype: DType) -> tuple[_Candidate, ...]:
    """Every feasible tile of this GPU and format with its cost constants."""
    return tuple(_candidate(gpu, dtype, out_dtype, tile) for tile in tiles(gpu, dtype))


def _candidate(gpu: GPU, dtype: DType, out_dtype: DType, tile: Tile) -> _Candidate:
    a_bytes, b_bytes = value_bytes(dtype)
    l2_s = gpu.num_sms / gpu.l2_bytes_per_s  # per byte: one SM has its share of L2
    math_s = 2.0 * tile.tile_m * tile.tile_n / gpu.flop_per_clk_per_sm(dtype) / gpu.clock_hz
    shared_s = (tile.tile_m + tile.tile_n) * dtype.bytes / gpu.shared_bytes_per_clk_per_sm / gpu.clock_hz
    return _Candidate(
        tile_m=float(tile.tile_m), tile_n=float(tile.tile_n), tile_k=float(tile.tile_k),
        cluster_m=float(tile.cluster_m), cluster_n=float(tile.cluster_n), step_s=max(math_s, shared_s),
        row_s=a_bytes / tile.cluster_n * l2_s, column_s=b_bytes / tile.cluster_m * l2_s,
        value_s=out_dtype.bytes * l2_s, partial_s=(out_dtype.bytes + PARTIAL_BYTES) * l2_s,
        may_split=tile.cluster_m == tile.cluster_n == 1, ctas_per_sm=float(tile.occupancy.ctas_per_sm), tile=tile,
    )  # fmt: skip


def value_bytes(dtype: DType) -> tuple[float, float]:
    """Bytes of one value of A and of B with its share of the scales."""
    if dtype is DType.NVFP4:  # one fp8 scale per 16 values, both operands
        return dtype.bytes + 1 / 16, dtype.bytes + 1 / 16
    if dtype is DType.FP8_BLOCK:  # fp32 scales: 1 x 128 blocks of A, 128 x 128 blocks of B
        return dtype.bytes + 4 / 128, dtype.bytes + 4 / 128**2
    return dtype.bytes, dtype.bytes


def num_tasks(p: Gemm, c: _Candidate) -> Number:
    """Tiles of C over the batch, rounded up to whole clusters."""
    tiles_m, tiles_n = ceil_div(p.m, c.tile_m), ceil_div(p.n, c.tile_n)
    if c.cluster_m != 1.0:
        tiles_m = round_up(tiles_m, c.cluster_m)
    if c.cluster_n != 1.0:
        tiles_n = round_up(tiles_n, c.cluster_n)
    return tiles_m * tiles_n * p.batch


def whole_cost(p: Gemm, c: _Candidate, num_tiles: Number, num_sms: int) -> Number:
    """Seconds of the busiest SM when every task sums over all of k."""
    rows, columns = minimum(p.m, c.tile_m), minimum(p.n, c.tile_n)
    own = ceil_div(p.k, c.tile_k) * (c.tile_k * c.step_s)
    l2 = (rows * c.row_s + columns * c.column_s) * p.k + rows * columns * c.value_s
    return ceil_div(num_tiles, num_sms) * maximum(own, l2)


def split_count(p: Gemm, c: _Candidate, num_tiles: Number, num_sms: int) -> Number:
    """Slices of k that fill one wave, never more than there are steps of k, never fewer than one."""
    return maximum(minimum(floor(num_sms / num_tiles), ceil_div(p.k, c.tile_k)), 1.0)


def forced_cost(p: Gemm, c: _Candidate, num_tiles: Number, num_sms: int) -> Number:
    """Seconds of the busiest SM under the given split_k."""
    split = split_cost(p, c, p.split_k) * ceil_div(num_tiles * p.split_k, num_sms)
    return where(p.split_k == 1, whole_cost(p, c, num_tiles, num_sms), split)


def split_cost(p: Gemm, c: _Candidate, slices: Number) -> Number:
    """Seconds of one slice, the only one of its SM, with its partial sums."""
    rows, columns = minimum(p.m, c.tile_m), minimum(p.n, c.tile_n)
    k = ceil_div(ceil_div(p.k, c.tile_k), slices) * c.tile_k
    l2 = (rows * c.row_s + columns * c.column_s) * minimum(k, p.k) + rows * columns * c.partial_s
    return maximum(k * c.step_s, l2)


def _least(p: Gemm, gpu: GPU, found: tuple[_Candidate, ...], source: str) -> Tiling:
    if any(is_array(x) for x in (p.m, p.n, p.k, p.batch, p.split_k)):
        return _least_of_many(p, gpu, found, source)
    best, best_cost, best_slices = found[0], inf, 1.0
    for c in found:
        num_tiles = num_tasks(p, c)
        cost, slices = _cheaper(p, c, num_tiles, gpu.num_sms)
        if cost < best_cost:
            best, best_cost, best_slices = c, cost, slices
    return _tiling(p, best, best_slices, source, best.tile)


def _cheaper(p: Gemm, c: _Candidate, num_tiles: float, num_sms: int) -> tuple[float, float]:
    """Cost and slices of one call: as given, else the cheaper of no split and one wave of slices."""
    if p.split_k is not None:
        return forced_cost(p, c, num_tiles, num_sms), float(p.split_k)
    cost = whole_cost(p, c, num_tiles, num_sms)
    if c.may_split and num_tiles * 2 < num_sms:
        slices = split_count(p, c, num_tiles, num_sms)
        split = split_cost(p, c, slices)
        if split < cost:
            return split, slices
    return cost, 1.0


def _least_of_many(p: Gemm, gpu: GPU, found: tuple[_Candidate, ...], source: str) -> Tiling:
    size = max(len(x) for x in (p.m, p.n, p.k, p.batch, p.split_k) if is_array(x))
    best_cost, best, best_slices = np.full(size, inf), np.zeros(size, dtype=np.intp), np.ones(size)
    for i, c in enumerate(found):
        num_tiles = num_tasks(p, c)
        if p.split_k is not None:
            options = [(forced_cost(p, c, num_tiles, gpu.num_sms), p.split_k)]
        else:
            options = [(whole_cost(p, c, num_tiles, gpu.num_sms), 1.0)]
            few = num_tiles * 2 < gpu.num_sms
            if c.may_split and np.any(few):
                slices = split_count(p, c, num_tiles, gpu.num_sms)
                options.append((where(few, split_cost(p, c, slices), inf), slices))
        for cost, slices in options:
            better = cost < best_cost
            best_cost = np.where(better, cost, best_cost)
            best = np.where(better, i, best)
            best_slices = np.where(better, slices, best_slices)
    return _tiling(p, _Columns.of(found, best), best_slices, source, None)


class _Columns(NamedTuple):
    """The chosen candidate of each call, as columns."""

    tile_m: np.ndarray
    tile_n: np.ndarray
    tile_k: np.ndarray
    cluster_m: np.ndarray
    cluster_n: np.ndarray
    ctas_per_sm: np.ndarray

    @classmethod
    def of(cls, found: tuple[_Candidate, ...], index: np.ndarray) -> _Columns:
        return cls(*(np.array([getattr(c, name) for c in found])[index] for name in cls._fields))


def _tiling(p: Gemm, c: _Candidate | _Columns, slices: Number, source: str, tile: Tile | None) -> Tiling:
    tiles_m, tiles_n = ceil_div(p.m, c.tile_m), ceil_div(p.n, c.tile_n)
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
        source=source,
        tile=tile,
    )


@lru_cache(maxsize=4096)
def given_candidates(
    gpu: GPU, dtype: DType, out_dtype: DType, tile_m: int | None, tile_n: int | None, tile_k: int | None
) -> tuple[_Candidate, ...]:
    """The candidates that have the given parts of a tile; a tile that no library ships is taken as it is.

    Raises:
        UnsupportedError: no such tile, or it does not fit.
    """
    k = tile_k or default_tile_k(gpu, dtype)
    shipped = {(t.tile_m, t.tile_n) for t in tiles(gpu, dtype)}
    shapes = {(m, n) for m, n in shipped if tile_m in (None, m) and tile_n in (None, n)}
    if tile_m and tile_n:
        shapes = {(tile_m, tile_n)}
    if not shapes:
        raise UnsupportedError(f"tile: no known tile has {_part(tile_m, tile_n)}; give both tile_m and tile_n")
    clusters = ((1, 1), (2, 1), (1, 2)) if is_persistent(gpu, dtype) else ((1, 1),)
    built = [build(gpu, dtype, m, n, k, *cluster) for m, n in sorted(shapes, reverse=True) for cluster in clusters]
    found = tuple(_candidate(gpu, dtype, out_dtype, tile) for tile in built if tile is not None)
    if not found:
        m, n = max(shapes)
        raise UnsupportedError(
            f"tile: {m}x{n}x{k} does not fit {gpu.name}: two stages need {int(2 * (m + n) * k * dtype.bytes)} bytes of "
            f"shared memory of the {gpu.shared_bytes_per_cta} that a CTA can have, or its registers do not fit"
        )
    return found


def _part(tile_m: int | None, tile_n: int | None) -> str:
    return f"tile_m={tile_m}" if tile_m else f"tile_n={tile_n}"


def _by_tile(p: Gemm, gpu: GPU, given: tuple[Number, Number, Number]) -> Tiling:
    """Columns of given tiles: the rows of each distinct tile are chosen for together."""
    size = max(len(x) for x in (p.m, p.n, p.k, p.batch, p.split_k, *given) if is_array(x))
    column = {name: np.broadcast_to(0 if v is None else v, size) for name, v in zip(_GIVEN, given, strict=True)}
    rows = np.stack(list(column.values()), axis=1).astype(np.int64)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    parts: dict[str, np.ndarray] = {name: np.empty(size) for name in _TILING_COLUMNS}
    for i, tile in enumerate(distinct.tolist()):
        chosen = np.flatnonzero(which.ravel() == i)
        extents = {name: np.broadcast_to(getattr(p, name), size)[chosen] for name in ("m", "n", "k", "batch")}
        split = None if p.split_k is None else np.broadcast_to(p.split_k, size)[chosen]
        tiles_given = {name: value or None for name, value in zip(_GIVEN, tile, strict=True)}
        part = choose(replace(p, **extents, split_k=split, **tiles_given), gpu)
        for name in _TILING_COLUMNS:
            parts[name][chosen] = getattr(part, name)
    return Tiling(**parts, source="given", tile=None)


_TILING_COLUMNS = tuple(f.name for f in fields(Tiling) if f.name not in ("source", "tile"))
