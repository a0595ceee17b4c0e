"""The products of an expert layer and the bytes that they must move, on one rank."""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number, ceil_div, maximum
from .gemm_costs import value_bytes
from .moe_call import FusedMoe
from .moe_kernels import MoeKernel, first_pass_only
from .moe_loads import Loads
from .moe_tiles import Pass

RESULT_BYTES = 2.0  # bf16, in which every engine's kernels write the rows of both passes


def passes(p: FusedMoe) -> tuple[Pass, ...]:
    """The grouped products, in their order."""
    first = Pass(n=first_width(p), k=p.hidden, out_bytes=RESULT_BYTES)
    if first_pass_only("fused_moe", p.dtype, p.kernel):
        return (first,)
    return first, Pass(n=p.hidden, k=p.inter / p.tp, out_bytes=RESULT_BYTES)


def first_width(p: FusedMoe) -> Number:
    """Columns of the first product: the rank's part of the up matrix, and of the gate where there is one."""
    return (2.0 if p.gated else 1.0) * p.inter / p.tp


def weight_bytes(p: FusedMoe, own: Loads) -> Number:
    """Weights of the experts that have any row, with scales: the others are not touched."""
    _, b_bytes = value_bytes(p.dtype)
    return own.active * sum(b_bytes * x.n * x.k for x in passes(p))


def activation_bytes(p: FusedMoe, own: Loads) -> Number:
    """The rank's different tokens read once, its result written once: a row per token, after the first pass per row."""
    a_bytes, _ = value_bytes(p.dtype)
    tokens = _tokens(p, own)
    first, *second = passes(p)
    written = tokens * p.hidden if second else own.rows * first.n
    return tokens * p.hidden * a_bytes + written * RESULT_BYTES


def foreign_bytes(p: FusedMoe, own: Loads) -> Number:
    """The result of tokens that have no expert here: written as zeros, for ranks to add up."""
    if len(passes(p)) == 1:
        return 0.0
    return maximum(1.0 * p.tokens - _tokens(p, own), 0.0) * p.hidden * RESULT_BYTES


def buffer_bytes(p: FusedMoe, own: Loads, kernel: MoeKernel) -> Number:
    """What launches of the layer hand on: quantised tokens, permuted rows, both products and the activation."""
    if len(passes(p)) == 1:
        return 0.0
    act = p.dtype.activations.bytes
    rows = _side_rows(p, own, kernel)
    products = rows * (first_width(p) + p.hidden) * RESULT_BYTES
    activated = 0.0 if kernel.fuses_activation else rows * (p.inter / p.tp) * act
    permuted = own.rows * p.hidden * act if kernel.permutes else 0.0
    quantised = 1.0 * p.tokens * p.hidden * act if act < RESULT_BYTES else 0.0
    return products + activated + permuted + quantised


def side_bytes(p: FusedMoe, own: Loads, kernel: MoeKernel) -> Number:
    """Traffic of the launches around the products: they quantise, permute, activate, and add up each token's rows.

    Quantising and the sum go over the tokens of all ranks, as activations are gathered before the layer.
    """
    if len(passes(p)) == 1:
        return 0.0
    act = p.dtype.activations.bytes
    rows = _side_rows(p, own, kernel)
    summed = (rows + p.tokens) * p.hidden * RESULT_BYTES
    activated = 0.0 if kernel.fuses_activation else rows * (first_width(p) * RESULT_BYTES + p.inter / p.tp * act)
    permuted = 2.0 * own.rows * p.hidden * act if kernel.permutes else 0.0
    quantised = 1.0 * p.tokens * p.hidden * (RESULT_BYTES + act) if act < RESULT_BYTES else 0.0
    return summed + activated + permuted + quantised


def side_s(p: FusedMoe, own: Loads, kernel: MoeKernel, gpu: GPU) -> Number:
    """Seconds of those launches at published rates: out of L2, and out of DRAM what L2 cannot hold of the buffers."""
    moved, buffers = side_bytes(p, own, kernel), buffer_bytes(p, own, kernel)
    missed = maximum(0.0, 1.0 - gpu.l2_bytes / maximum(buffers, 1.0))
    return moved / gpu.l2_bytes_per_s + missed * moved * (1.0 / gpu.dram_bytes_per_s - 1.0 / gpu.l2_bytes_per_s)


def _tokens(p: FusedMoe, own: Loads) -> Number:
    """The fewest tokens that the rows can be: those of the hottest expert differ, none comes more than topk times."""
    return maximum(own.hottest, ceil_div(own.rows, p.topk))


def _side_rows(p: FusedMoe, own: Loads, kernel: MoeKernel) -> Number:
    """Rows that the launches around the products go over."""
    return 1.0 * p.tokens * p.topk if kernel.all_rows else own.rows
