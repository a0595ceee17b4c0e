"""What a layer does with each token by itself: one MLP, or a choice of experts. Sizes are those of the whole model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .weights import Kind, Share, Weight, linear, vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Mlp:
    """`inter` values between two projections; `gated` ones are multiplied by as many of an activated gate."""

    inter: int
    gated: bool = True
    activation: str = "silu"
    bias: bool = False

    def weights(self, hidden: int, prefix: str = "mlp") -> Iterator[Weight]:
        """Projections up, the gate's among them, and down."""
        for name in ("gate_proj", "up_proj") if self.gated else ("up_proj",):
            yield from linear(f"{prefix}.{name}", self.inter, hidden, Share.TENSOR, bias=self.bias)
        yield from linear(f"{prefix}.down_proj", hidden, self.inter, Share.TENSOR, bias=self.bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """`topk` of `experts` MLPs, chosen by a router for each token, beside a `shared` one that all tokens go through.

    `corrected` routers add a value per expert before they choose; `shared_gate` weighs the shared expert.
    """

    experts: int
    topk: int
    inter: int
    gated: bool = True
    activation: str = "silu"
    bias: bool = False
    router_bias: bool = False
    corrected: bool = False
    shared: Mlp | None = None
    shared_gate: bool = False

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Router, experts, shared expert."""
        yield Weight("mlp.gate.weight", self.experts, hidden, kind=Kind.WIDE)
        if self.router_bias:
            yield vector("mlp.gate.bias", self.experts)
        if self.corrected:
            yield vector("mlp.gate.e_score_correction_bias", self.experts)
        yield from self.expert_weights(hidden)
        if self.shared is not None:
            yield from self.shared.weights(hidden, "mlp.shared_experts")
        if self.shared_gate:
            yield Weight("mlp.shared_expert_gate.weight", 1, hidden, kind=Kind.WIDE)

    def expert_weights(self, hidden: int) -> Iterator[Weight]:
        """Of all experts; a copy each."""
        one = Mlp(inter=self.inter, gated=self.gated, activation=self.activation, bias=self.bias)
        for weight in one.weights(hidden, "mlp.experts.0"):
            yield weight._replace(share=Share.EXPERTS, copies=self.experts)


Feed = Mlp | Experts
