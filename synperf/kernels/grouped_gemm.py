"""Grouped GEMM: C_g[m_g, n] = A_g[m_g, k] B_g[k, n] for every group g, in one launch.

A task is one tile of one group's result; each group's last block of rows is padded. Groups without rows cost nothing,
and their B is not read.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div
from ..scheduling import TaskGroups
from .base import KernelFamily, Launch
from .gemm_costs import value_bytes
from .grouped_gemm_call import GroupedGemm
from .grouped_gemm_inputs import inputs
from .moe_kernels import moe_kernel
from .moe_listed import of_counts
from .moe_loads import Loads, of_busiest_rank
from .moe_tiles import Pass, Tiling, choose, tasks
from .one_by_one import Experts

_RESULT_BYTES = 2.0  # bf16


def loads(p: GroupedGemm) -> Loads:
    """How the rows fall on groups."""
    return of_busiest_rank(p.m_per_group)


def product(p: GroupedGemm) -> Pass:
    """The product of each group."""
    return Pass(n=p.n, k=p.k, out_bytes=_RESULT_BYTES)


def flop(p: GroupedGemm) -> Number:
    """Useful FLOP: a multiply and an add per row, column and value of k."""
    return 2.0 * loads(p).rows * p.n * p.k


def compulsory_bytes(p: GroupedGemm) -> Number:
    """A of all groups, B of those with rows, read once; C written once."""
    own, (a_bytes, b_bytes) = loads(p), value_bytes(p.dtype)
    return own.rows * p.k * a_bytes + own.active * (1.0 * p.n * p.k) * b_bytes + own.rows * p.n * _RESULT_BYTES


def dram_bytes(p: GroupedGemm, gpu: GPU) -> Number:  # noqa: ARG001
    """The compulsory bytes: L2 holds what the tiles of one group share."""
    return compulsory_bytes(p)


def tiling(p: GroupedGemm, gpu: GPU) -> Tiling:
    """The tile of least cost."""
    kernel = moe_kernel("grouped_gemm", gpu, p.dtype, p.engine, p.kernel)
    return choose((product(p),), loads(p), gpu, p.dtype, kernel)


def decompose(p: GroupedGemm, gpu: GPU) -> TaskGroups:
    """Tiles of all groups as one group of identical tasks."""
    return tasks(product(p), loads(p), p.dtype, tiling(p, gpu).choice, gpu)


def launch(p: GroupedGemm, gpu: GPU) -> Launch:
    """Grid, resources and tile of one call, and how its rows fall on groups."""
    own, found = loads(p), tiling(p, gpu)
    assert found.tile is not None
    tile_m, tile_n = int(found.choice.tile_m), int(found.choice.tile_n)
    across, down = int(ceil_div(p.n, tile_n)), int(own.tiles[tile_m])
    return Launch(
        tiles=across * down,
        grid=(across, down, 1),
        persistent=False,
        threads=found.tile.threads,
        registers=found.tile.registers,
        shared_bytes=found.tile.shared_bytes,
        occupancy=found.tile.occupancy,
        choice={"tile_m": tile_m, "tile_n": tile_n, "tile_k": int(found.choice.tile_k), "stages": found.tile.stages},
        choice_source=found.source,
        facts={
            "groups": len(p.m_per_group),
            "active_groups": own.active,
            "rows": own.rows,
            "hottest_group_rows": own.hottest,
            "padded_rows": own.tiles[tile_m] * tile_m,
        },
    )


def listed(p: GroupedGemm, gpu: GPU) -> Experts:
    """Rows of each group of one call: those of one rank."""
    return of_counts(p.m_per_group, 1, int(tiling(p, gpu).choice.tile_m))


def assumptions(p: GroupedGemm, gpu: GPU) -> tuple[str, ...]:  # noqa: ARG001
    """Nothing but the products is in the time."""
    return ()


FAMILY = KernelFamily(
    name="grouped_gemm",
    call_type=GroupedGemm,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=GroupedGemm(m_per_group=(128, 0, 256, 64), n=4096, k=4096),
    inputs=inputs,
    listed=listed,
    summary="matrix products of several groups of rows, each with a matrix of its own, in one launch",
)
