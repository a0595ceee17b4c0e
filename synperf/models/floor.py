"""What no pass does without: its products, and the bytes that must be read. Measured times are above these."""

from __future__ import annotations

from ..numeric import Number, maximum, minimum
from .batch import Batch, Requests
from .description import Layer, Model
from .feeds import Experts
from .formats import cache_dtype, planned
from .mixers import GroupedAttention, LatentAttention, Mixer
from .parameters import linear_parameters
from .plan import Plan
from .sharding import check, held
from .weights import Kind, Share, Weight


def pass_flop(model: Model, batch: Batch) -> Number:
    """FLOP of the layers for all new tokens: of their matrices, and of the keys that each query sees."""
    linear = 2 * linear_parameters(model) * batch.tokens
    return linear + sum(
        count * one.tokens * mixing_flop(layer.mixer, one)
        for layer, count in model.distinct()
        for one in batch.requests
    )


def mixing_flop(mixer: Mixer, one: Requests) -> Number:
    """FLOP of one token of these requests beside its projections, of all heads."""
    scored = mixer.flop_per_scored_key() * _seen(mixer, one, 0) if mixer.flop_per_scored_key() else 0
    return scored + mixer.flop_per_key() * _seen(mixer, one, mixer.most_keys) + mixer.flop_per_token()


def _seen(mixer: Mixer, one: Requests, most: int) -> Number:
    """Keys that a query sees, in the mean of all: those before the new ones, and half of these; not above `most`."""
    if one.decodes or (isinstance(mixer, GroupedAttention) and not mixer.causal):
        return minimum(one.kv_len, most) if most else one.kv_len
    before = one.kv_len - one.q_len
    growing = minimum(maximum(most - before, 0), one.q_len) if most else one.q_len
    return (growing * (before + growing / 2) + (one.q_len - growing) * most) / one.q_len


def pass_bytes(model: Model, plan: Plan, batch: Batch) -> Number:
    """Bytes that one rank reads in a pass of one stage: its part of the layers, the head, and the cache of all tokens.

    Of experts at least those of one token. The head is not shared unless the plan shares the vocabulary.

    Raises:
        FieldError: the plan does not go with the model.
    """
    check(model, plan)
    model = planned(model, plan)
    read = sum(count * _layer_bytes(model, layer, plan) for layer, count in model.distinct())
    if model.has_logits:
        ranks = plan.tp if plan.split_vocab else 1
        read += model.hidden * model.embeddings.vocab * model.dtype.bytes / ranks
    return read + sum(
        count * _cache_bytes(model, layer.mixer, plan, one)
        for layer, count in model.distinct()
        for one in batch.requests
    )


def _layer_bytes(model: Model, layer: Layer, plan: Plan) -> float:
    return sum(_read(model, layer, w) * held(w, plan) for w in model.layer_weights(layer) if w.kind is not Kind.VECTOR)


def _read(model: Model, layer: Layer, weight: Weight) -> float:
    """Bytes of a matrix; of experts, of as many as one token goes to."""
    if weight.share is Share.EXPERTS and isinstance(layer.feed, Experts):
        weight = weight._replace(copies=layer.feed.topk)
    scheme = layer.scheme(weight.name)
    return weight.parameters * model.dtype.bytes if scheme is None else scheme.bytes(weight)


def _cache_bytes(model: Model, mixer: Mixer, plan: Plan, one: Requests) -> Number:
    size = cache_dtype(model).bytes
    kept = minimum(one.kv_len, mixer.most_keys) if mixer.most_keys else one.kv_len
    if isinstance(mixer, GroupedAttention) and model.is_decoder:
        return one.count * kept * mixer.kv_values() * size / min(plan.tp, mixer.kv_heads)
    return one.count * kept * mixer.kv_values() * size if isinstance(mixer, LatentAttention) else 0.0
