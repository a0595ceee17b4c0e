"""Which tile the passes of an expert layer run with: of least cost, or by the rule of a default configuration.

A pass multiplies the rows of each expert by that expert's own [k, n] weights; a task is one tile_m x tile_n tile of the
result, and each expert's last block of rows is padded. The cost of a tile is the time of the busiest SM on its slowest
own pipe, or of L2, over all passes. DRAM traffic does not depend on the tile. No cost falls when a size grows, so the
least one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, is_array, maximum, minimum, where
from ..scheduling import TaskGroups
from .gemm_costs import value_bytes
from .gemm_tiles import Tile, build, default_tile_k
from .moe_kernels import MoeKernel
from .moe_loads import Loads

# The tiles that Triton configurations, CUTLASS and TRT-LLM Gen ship for grouped products: rows by columns.
_SHAPES = ((16, 128), (32, 128), (64, 128), (64, 256), (128, 128), (128, 256))


class Pass(NamedTuple):
    """One grouped product: extents of each expert's weights, and bytes of one value of the result."""

    n: Number
    k: Number
    out_bytes: float


class Choice(NamedTuple):
    """The chosen tile of one call, or columns of them."""

    tile_m: Number
    tile_n: Number
    tile_k: Number
    ctas_per_sm: Number
    share_a: Number  # of the rows that a CTA needs, what it loads out of L2 itself: multicast brings the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """The choice, how it was made, and the variant of a single call."""

    choice: Choice
    source: str
    tile: Tile | None


def choose(passes: Sequence[Pass], loads: Loads, gpu: GPU, dtype: DType, kernel: MoeKernel) -> Tiling:
    """The tile of least cost for all passes together."""
    tiles = _tiles(gpu, dtype, kernel.most_rows, kernel.multicasts)
    costs = [cost(passes, loads, gpu, dtype, choice) for choice, _ in tiles]
    if any(is_array(x) for x in costs):
        return _picked(tiles, np.stack(np.broadcast_arrays(*costs)).argmin(axis=0), "least cost")
    return _picked(tiles, costs.index(min(costs)), "least cost")


def by_rule(tokens: Number, hidden: Number, experts: Number, gpu: GPU, dtype: DType) -> Tiling:
    """The tile of SGLang's default configuration, by tokens, experts and the shared memory of an SM.

    Source: see `tile_rule` in moe_kernels.toml; it agrees with every row of pipeweave_kernel_samples.
    """
    small, medium = gpu.shared_bytes_per_sm <= 100 * 1024, gpu.shared_bytes_per_sm <= 164 * 1024
    large = 64 if medium and not small else 128
    shapes = ((16, 64, 256), (16, 16, 256), (32, 64, 256), (64, 64, 64), (128, 64, 64))
    if not small:
        shapes = ((16, 128, 128), (16, 128, 128), (32, 128, 128), (64, 128, 64), (large, 128, 64))
    narrow, few = (hidden <= 1536) & (tokens <= 128), (tokens > 2048) & (experts < 64) & small
    first = where(tokens <= 128, where(narrow, 1, 0), where(tokens <= 256, 2, where(tokens <= 512, 3, 4)))
    return _picked(_fixed(gpu, dtype, shapes), where(few, 3, first), "default configuration")


def tasks(p: Pass, loads: Loads, dtype: DType, c: Choice, gpu: GPU) -> TaskGroups:
    """The tiles of one pass: math on padded tiles, traffic out of L2 for the values that exist.

    Through its port the busiest SM moves the longest of all tiles, the L2 as a whole what they have together.
    """
    a_bytes, b_bytes = value_bytes(dtype)
    blocks, across = _blocks(loads, c.tile_m), ceil_div(p.n, c.tile_n)
    rows, columns = loads.rows / blocks, p.n / across
    depth = ceil_div(p.k, c.tile_k) * c.tile_k
    most_rows, most_columns = minimum(loads.hottest, c.tile_m), minimum(1.0 * p.n, c.tile_n)
    math = 2.0 * c.tile_m * c.tile_n * depth
    tensor = gpu.math_pipe(dtype) == "tensor"
    return TaskGroups(
        count=blocks * across,
        tensor_flop=math if tensor else 0.0,
        fma_flop=0.0 if tensor else math,
        load_bytes=(rows * a_bytes * c.share_a + columns * b_bytes) * p.k,
        store_bytes=rows * columns * p.out_bytes,
        port_bytes=(most_rows * a_bytes + most_columns * b_bytes) * p.k + most_rows * most_columns * p.out_bytes,
        shared_bytes=(c.tile_m * a_bytes + c.tile_n * b_bytes) * depth,
        ctas_per_sm=c.ctas_per_sm,
    )


def cost(passes: Sequence[Pass], loads: Loads, gpu: GPU, dtype: DType, c: Choice) -> Number:
    """Seconds of the slowest pipe but DRAM, each summed over the passes: as features have it, in fewer steps."""
    r = _rates(gpu, dtype)
    blocks, rows = _blocks(loads, c.tile_m), minimum(loads.hottest, c.tile_m)
    steps: Number = 0.0  # values of k that the busiest SM goes through
    l2_s: Number = 0.0
    for p in passes:
        across = ceil_div(p.n, c.tile_n)
        busiest = ceil_div(blocks * across, gpu.num_sms)
        columns = minimum(1.0 * p.n, c.tile_n)
        steps = steps + busiest * (ceil_div(p.k, c.tile_k) * c.tile_k)
        pool = (across * loads.rows * (r.a_bytes * c.share_a) + blocks * p.n * r.b_bytes) * p.k
        pool_s = (pool + loads.rows * p.n * p.out_bytes) * r.l2_s
        port_s = ((rows * r.a_bytes + columns * r.b_bytes) * p.k + rows * columns * p.out_bytes) * r.port_s
        l2_s = l2_s + maximum(pool_s, busiest * port_s)
    step_s = maximum(c.tile_m * c.tile_n * r.mac_s, (c.tile_m * r.a_bytes + c.tile_n * r.b_bytes) * r.shared_s)
    return maximum(steps * step_s, l2_s)


class _Rates(NamedTuple):
    """Bytes of one value of each operand, and seconds: per multiply-add of one SM, per byte of each memory."""

    a_bytes: float
    b_bytes: float
    mac_s: float
    shared_s: float
    l2_s: float
    port_s: float


@lru_cache(maxsize=256)
def _rates(gpu: GPU, dtype: DType) -> _Rates:
    return _Rates(
        *value_bytes(dtype),
        mac_s=2.0 / gpu.flop_per_clk_per_sm(dtype) / gpu.clock_hz,
        shared_s=1.0 / gpu.shared_bytes_per_clk_per_sm / gpu.clock_hz,
        l2_s=1.0 / gpu.l2_bytes_per_s,
        port_s=1.0 / gpu.l2_port_bytes_per_s,
    )


def _blocks(loads: Loads, tile_m: Number) -> Number:
    """Blocks of `tile_m` rows, a number or a column."""
    if not is_array(tile_m):
        return loads.tiles[int(tile_m)]
    found: Number = 0.0
    for block, blocks in loads.tiles.items():
        found = where(tile_m == block, blocks, found)
    return found


def _picked(tiles: tuple[tuple[Choice, Tile], ...], at: Any, source: str) -> Tiling:
    if not is_array(at):
        choice, tile = tiles[int(at)]
        return Tiling(choice=choice, source=source, tile=tile)
    columns = (np.array([getattr(choice, name) for choice, _ in tiles])[at] for name in Choice._fields)
    return Tiling(choice=Choice(*columns), source=source, tile=None)


@lru_cache(maxsize=256)
def _tiles(gpu: GPU, dtype: DType, most_rows: int, multicasts: bool) -> tuple[tuple[Choice, Tile], ...]:
    tile_k = default_tile_k(gpu, dtype.activations)
    shapes = tuple((m, n, tile_k) for m, n in _SHAPES if m <= most_rows)
    clusters = gpu.cc[0] in (9, 10) and multicasts and gpu.math_pipe(dtype) == "tensor"
    return _built(gpu, dtype, shapes, pairs=clusters)


@lru_cache(maxsize=256)
def _fixed(gpu: GPU, dtype: DType, shapes: tuple[tuple[int, int, int], ...]) -> tuple[tuple[Choice, Tile], ...]:
    found = _built(gpu, dtype, shapes, pairs=False)
    if len(found) != len(shapes):
        raise UnsupportedError(f"gpu: a tile of the default configuration in {dtype} does not fit the SM of {gpu.name}")
    return found


def _built(
    gpu: GPU, dtype: DType, shapes: Sequence[tuple[int, int, int]], *, pairs: bool
) -> tuple[tuple[Choice, Tile], ...]:
    """Those shapes that fit; where `pairs`, two CTAs side by side in n share each load of their rows."""
    found = []
    for m, n, k in shapes:
        tile = build(gpu, dtype.activations, m, n, k)
        if tile is None:
            continue
        resident = float(tile.occupancy.ctas_per_sm)
        found.append((Choice(float(m), float(n), float(k), resident, 0.5 if pairs else 1.0), tile))
    if not found:
        raise UnsupportedError(f"gpu: no tile of grouped products fits the SM of {gpu.name} in {dtype}")
    return tuple(found)
