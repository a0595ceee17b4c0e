"""Fused MoE: the expert layer of one rank, rows grouped by expert times that expert's weights, up and down.

First pass: [rows, hidden] x [hidden, 2 inter / tp] (gate and up, or up alone); an activation; second pass:
[rows, inter / tp] x [inter / tp, hidden]; then each token adds up its experts' rows. The router, shared experts and
communication are not in it. Times are of the rank with most rows.
"""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum
from ..scheduling import TaskGroups
from .base import KernelFamily, Launch
from .moe_call import FusedMoe
from .moe_inputs import STEPPED, inputs
from .moe_kernels import MoeKernel, moe_kernel
from .moe_layer import activation_bytes, buffer_bytes, foreign_bytes, passes, side_s, weight_bytes
from .moe_listed import experts_of
from .moe_loads import Loads, loads
from .moe_tiles import Tiling, by_rule, choose, tasks
from .one_by_one import Experts


def traits(p: FusedMoe, gpu: GPU) -> MoeKernel:
    """What the kernel that the call means does beside the products."""
    return moe_kernel("fused_moe", gpu, p.dtype, p.engine, p.kernel)


def flop(p: FusedMoe) -> Number:
    """Useful FLOP of the rank: a multiply and an add per routed row and weight of its expert."""
    own = loads(p)
    return sum(2.0 * own.rows * x.n * x.k for x in passes(p))


def compulsory_bytes(p: FusedMoe) -> Number:
    """Weights of the active experts and the rank's tokens read once, the result written once."""
    own = loads(p)
    return weight_bytes(p, own) + activation_bytes(p, own)


def dram_bytes(p: FusedMoe, gpu: GPU) -> Number:
    """With the result of tokens whose experts are elsewhere, and what L2 cannot hold of the buffers, to and fro."""
    own = loads(p)
    spilled = 2.0 * maximum(buffer_bytes(p, own, traits(p, gpu)) - gpu.l2_bytes, 0.0)
    return weight_bytes(p, own) + activation_bytes(p, own) + foreign_bytes(p, own) + spilled


def tiling(p: FusedMoe, own: Loads, gpu: GPU) -> Tiling:
    """The tile of both passes."""
    kernel = traits(p, gpu)
    if kernel.tile_rule:
        return by_rule(p.tokens, p.hidden, p.experts, gpu, p.dtype)
    return choose(passes(p), own, gpu, p.dtype, kernel)


def decompose(p: FusedMoe, gpu: GPU) -> TaskGroups:
    """Tiles of the first pass, those of the second as the launch after it, and the launches around them."""
    own = loads(p)
    choice = tiling(p, own, gpu).choice
    first, *second = (tasks(x, own, p.dtype, choice, gpu) for x in passes(p))
    first.then = second[0] if second else None
    first.reduction_s = side_s(p, own, traits(p, gpu), gpu)
    return first


def launch(p: FusedMoe, gpu: GPU) -> Launch:
    """Grid, resources and tile of the first pass of one call, and how its rows fall on experts."""
    own = loads(p)
    found = tiling(p, own, gpu)
    assert found.tile is not None
    tile_m, tile_n = int(found.choice.tile_m), int(found.choice.tile_n)
    blocks = own.tiles[tile_m]
    across = [int(ceil_div(x.n, tile_n)) for x in passes(p)]
    return Launch(
        tiles=int(ceil_div(sum(across) * blocks, 1.0)),
        grid=(across[0], int(ceil_div(blocks, 1.0)), 1),
        persistent=False,
        threads=found.tile.threads,
        registers=found.tile.registers,
        shared_bytes=found.tile.shared_bytes,
        occupancy=found.tile.occupancy,
        choice={"tile_m": tile_m, "tile_n": tile_n, "tile_k": int(found.choice.tile_k), "stages": found.tile.stages},
        choice_source=found.source,
        facts=facts(p, own, blocks * tile_m),
    )


def listed(p: FusedMoe, gpu: GPU) -> Experts:
    """Rows of each expert of the busiest rank of one call, and of each rank."""
    return experts_of(p, int(tiling(p, loads(p), gpu).choice.tile_m))


def facts(p: FusedMoe, own: Loads, padded_rows: float) -> dict[str, float]:
    """How the rows of the busiest rank fall on its experts."""
    return {
        "rank_rows": own.rows,
        "rank_rows_over_mean": own.rows / (p.tokens * p.topk / p.ep),
        "rank_experts": p.experts // p.ep,
        "active_experts": own.active,
        "hottest_expert_rows": own.hottest,
        "hottest_over_mean": own.hottest / (own.rows / own.active),
        "padded_rows": padded_rows,
        "row_padding": padded_rows / own.rows,
    }


def assumptions(p: FusedMoe, gpu: GPU) -> tuple[str, ...]:
    """What is in the time besides the products, and where loads come from."""
    kernel, said = traits(p, gpu), []
    if kernel.first_pass_only:
        said.append(f"passes: {kernel.name} is the gate and up pass alone")
    else:
        said.append("reduction: the launches that quantise, permute, activate and add up rows")
    if p.distribution != "balanced":
        said.append(f"loads: the mean of simulated routings of {p.distribution}, the busiest rank's")
    elif p.tokens_per_expert is None and np.any(p.ep != 1):
        said.append("loads: experts of all ranks have equally many rows, or one more")
    return tuple(said)


FAMILY = KernelFamily(
    name="fused_moe",
    call_type=FusedMoe,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=FusedMoe(tokens=1024, hidden=4096, inter=14336, experts=8, topk=2),
    inputs=inputs,
    listed=listed,
    stepped=STEPPED,
    shape=("experts", "topk", "hidden", "inter"),
    summary="expert layer of one rank: rows grouped by expert times its weights, up (and gate) and down",
)
