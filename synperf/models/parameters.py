"""How many parameters a model has, and how many of them a token meets."""

from __future__ import annotations

from collections.abc import Iterable

from .description import Layer, Model
from .feeds import Experts
from .weights import Kind, Share, Weight


def parameters(model: Model) -> int:
    """Parameters of all tensors, a tied table once."""
    ends = _sum(model.first_weights()) + _sum(model.last_weights())
    return ends + sum(count * _sum(model.layer_weights(layer)) for layer, count in model.distinct())


def active_parameters(model: Model) -> int:
    """Parameters that one token meets: of its experts alone, all others."""
    return parameters(model) - sum(
        count * _sum(w._replace(copies=w.copies - layer.feed.topk) for w in layer.feed.expert_weights(model.hidden))
        for layer, count in model.distinct()
        if isinstance(layer.feed, Experts)
    )


def linear_parameters(model: Model) -> int:
    """Of the matrices of the layers that a token is multiplied by: without embeddings, norms, biases and the head."""
    return sum(count * _sum(_matrices(model, layer)) for layer, count in model.distinct())


def flop_per_token(model: Model) -> int:
    """FLOP of the matrices that one token is multiplied by, the head among them: a multiply and an add each."""
    head = model.hidden * model.embeddings.vocab if model.has_logits else 0
    return 2 * (linear_parameters(model) + head)


def _matrices(model: Model, layer: Layer) -> Iterable[Weight]:
    """Matrices of a layer that one token is multiplied by: of experts, as many as it goes to."""
    for weight in model.layer_weights(layer):
        if weight.kind is not Kind.VECTOR:
            chosen = isinstance(layer.feed, Experts) and weight.share is Share.EXPERTS
            yield weight._replace(copies=layer.feed.topk) if chosen else weight  # type: ignore[union-attr]


def _sum(weights: Iterable[Weight]) -> int:
    return sum(weight.parameters for weight in weights)
