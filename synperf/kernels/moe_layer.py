"""The products of an expert layer and the bytes that they must move, on one rank."""

from __future__ import annotations

from ..numeric import Number, maximum
from .moe_call import FusedMoe
from .moe_kernels import first_pass_only
from .moe_loads import Loads
from .moe_tiles import Pass, value_bytes

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
    """The rank's different tokens read once, its result written once: a row per token, after the first pass per row.

    As few tokens as can be: those of the hottest expert differ, and none comes more than topk times.
    """
    a_bytes, _ = value_bytes(p.dtype)
    tokens = maximum(own.hottest, own.rows / p.topk)
    first, *second = passes(p)
    written = tokens * p.hidden if second else own.rows * first.n
    return tokens * p.hidden * a_bytes + written * RESULT_BYTES


def inner_bytes(p: FusedMoe, own: Loads) -> Number:
    """Rows between the passes and after them: the first product, its activation, the second before tokens add it up."""
    if len(passes(p)) == 1:
        return 0.0
    inner = p.inter / p.tp
    activated = inner * p.dtype.activations.bytes
    return own.rows * ((first_width(p) + p.hidden) * RESULT_BYTES + activated)
