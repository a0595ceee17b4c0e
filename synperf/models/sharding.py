"""Whether a plan fits a model's sizes, what one rank holds, and which layers are of which stage."""

from __future__ import annotations

from functools import lru_cache

from ..errors import FieldError
from .description import Model
from .feeds import Experts, Mlp
from .mixers import DeltaNet, GroupedAttention, LatentAttention
from .plan import Plan
from .weights import Kind, Share, Weight


def check(model: Model, plan: Plan) -> None:
    """Checks that ranks can share the model.

    Raises:
        FieldError: they cannot; the message has what could.
    """
    for layer in model.kinds:
        mixer, feed = layer.mixer, layer.feed
        if isinstance(mixer, GroupedAttention | LatentAttention):
            _divides(model, "tp", plan.tp, mixer.heads, "heads")
        if isinstance(mixer, GroupedAttention) and mixer.kv_heads % plan.tp and plan.tp % mixer.kv_heads:
            raise FieldError(f"tp must divide the {mixer.kv_heads} KV heads of {model.name} or be a multiple of them, "
                             f"got {plan.tp}")  # fmt: skip
        if isinstance(mixer, DeltaNet):
            _divides(model, "tp", plan.tp, mixer.key_heads, "heads of linear attention")
        if isinstance(feed, Mlp):
            _divides(model, "tp", plan.tp, feed.inter, "intermediate values")
        if isinstance(feed, Experts):
            _divides(model, "ep", plan.ep, feed.experts, "experts")
            _divides(model, "tp x dp / ep", plan.expert_tp, feed.inter, "intermediate values of an expert")
    if plan.ep > 1 and not any(isinstance(layer.feed, Experts) for layer in model.kinds):
        raise FieldError(f"ep must be 1 for {model.name}, which has no experts, got {plan.ep}")
    if plan.pp > model.num_layers:
        raise FieldError(f"pp must be up to the {model.num_layers} layers of {model.name}, got {plan.pp}")


def _divides(model: Model, name: str, ranks: int, extent: int, what: str) -> None:
    if extent % ranks:
        right = [str(n) for n in range(1, min(extent, 64) + 1) if extent % n == 0]
        raise FieldError(f"{name} must divide the {extent} {what} of {model.name}, got {ranks}; "
                         f"right would be {', '.join(right[:8])}")  # fmt: skip


def assumptions(model: Model, plan: Plan) -> tuple[str, ...]:
    """Sentences on what the plan makes of the model."""
    few = {m.kv_heads for m in (layer.mixer for layer in model.kinds) if isinstance(m, GroupedAttention)}
    said = [
        f"tp: {plan.tp} is above the {heads} KV heads, each of which {plan.tp // heads} ranks hold"
        for heads in sorted(few)
        if plan.tp > heads
    ]
    return (*model.assumptions, *said)


def held(weight: Weight, plan: Plan) -> float:
    """The share of a tensor that one rank holds.

    Vectors count as shared, as if even norms were: together they are some hundredths of a percent of a model.
    """
    if weight.share is Share.EXPERTS:
        return 1.0 / plan.ranks_per_stage
    if weight.kind is Kind.VECTOR:
        return 1.0 / plan.tp
    if weight.share is Share.WHOLE:
        return 1.0
    return 1.0 / (min(plan.tp, weight.most_ranks) if weight.most_ranks else plan.tp)


@lru_cache(maxsize=1024)
def stages(layers: int, pp: int) -> tuple[range, ...]:
    """The layers of each stage: evenly, what is left over on the last ones but the very last, which has the head.

    Source: vllm, distributed/utils.py, get_pp_indices.
    """
    sizes = [layers // pp] * pp
    for stage in range(layers % pp):
        sizes[pp - 2 - stage if pp > 1 else 0] += 1
    starts = [sum(sizes[:stage]) for stage in range(pp)]
    return tuple(range(start, start + size) for start, size in zip(starts, sizes, strict=True))
