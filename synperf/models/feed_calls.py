"""Calls of what a layer does with each token by itself: an MLP, or experts with what takes tokens there and back."""

from __future__ import annotations

from ..kernels.elementwise import Elementwise
from ..kernels.gelu_mul import GeluMul
from ..kernels.gemm_call import Gemm
from ..kernels.silu_mul import SiluMul
from ..numeric import ceil_div
from .call_list import Calls, Named, Pass
from .description import Layer
from .feeds import Experts, Mlp

_GATED = {"silu": SiluMul, "gelu": GeluMul}


def feed_calls(p: Pass, layer: Layer) -> Calls:
    """Calls from the hidden state to what the layer adds to it, the sum over ranks among them."""
    if isinstance(layer.feed, Experts):
        yield from _experts(p, layer, layer.feed)
    else:
        yield from _mlp(p, layer, layer.feed)
    if p.plan.tp > 1:
        yield p.collective("feed_all_reduce", "all_reduce", p.tokens * p.model.hidden, p.plan.tp)


def _mlp(p: Pass, layer: Layer, mlp: Mlp, prefix: str = "mlp", part: str = "") -> Calls:
    hidden, inter = p.model.hidden, mlp.inter // p.plan.tp
    up = "gate_up" if mlp.gated else "up"
    yield p.gemm(f"{part}{up}", layer, f"{prefix}.up_proj", inter * (2 if mlp.gated else 1), hidden)
    yield _activation(p, mlp, f"{part}activation", inter)
    yield p.gemm(f"{part}down", layer, f"{prefix}.down_proj", hidden, inter)


def _activation(p: Pass, mlp: Mlp, part: str, inter: int) -> Named:
    if mlp.gated and mlp.activation in _GATED:
        return p.call(part, _GATED[mlp.activation], rows=p.tokens, dim=inter)
    return p.call(part, Elementwise, elements=p.tokens * inter, inputs=2 if mlp.gated else 1)


def _experts(p: Pass, layer: Layer, e: Experts) -> Calls:
    from ..kernels.moe_call import FusedMoe  # dense models need none

    hidden, plan = p.model.hidden, p.plan
    yield p.call("router", Gemm, m=p.tokens, n=e.experts, k=hidden)
    sent, back = _messages(p, e)
    yield from sent
    scheme = layer.scheme("mlp.experts.0.down_proj.weight")
    yield p.call(
        "experts",
        FusedMoe,
        tokens=p.tokens * plan.dp,
        hidden=hidden,
        inter=e.inter,
        experts=e.experts,
        topk=e.topk,
        tp=plan.expert_tp,
        ep=plan.ep,
        gated=e.gated,
        distribution=plan.distribution,
        dtype=p.dtype if scheme is None else scheme.dtype,
    )
    yield from back
    if e.shared is not None:
        yield from _mlp(p, layer, e.shared, "mlp.shared_experts", "shared_")
    if e.shared_gate:
        yield p.call("shared_gate", Gemm, m=p.tokens, n=1, k=hidden)


def _messages(p: Pass, e: Experts) -> tuple[list[Named], list[Named]]:
    """What takes tokens of several groups to their experts, and back. One group has all of its tokens on every rank."""
    plan, hidden = p.plan, p.model.hidden
    if plan.dp == 1:
        return [], []
    if plan.dispatch == "all_gather":
        values = p.tokens * plan.dp * hidden
        return (
            [p.collective("dispatch", "all_gather", values, plan.dp)],
            [p.collective("combine", "reduce_scatter", values, plan.dp)],
        )
    own, ranks = ceil_div(p.tokens, plan.tp) * hidden, plan.ranks_per_stage
    return (
        [p.collective("dispatch", "moe_dispatch", own, ranks, topk=e.topk)],
        [p.collective("combine", "moe_combine", own, ranks, topk=e.topk)],
    )
