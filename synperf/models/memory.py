"""What a model takes of the memory of one GPU: its weights, and the cache of the tokens that are kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..numeric import Number, ceil_div, maximum, minimum
from .description import Layer, Model
from .formats import cache_dtype, planned
from .mixers import DeltaNet, GroupedAttention, LatentAttention, Mixer
from .plan import Plan
from .sharding import check, held, stages
from .weights import Weight

PAGE_TOKENS = 16  # of a block of the cache. Source: vllm, block_size


def weights_bytes(model: Model, plan: Plan) -> float:
    """Weights on a GPU of the fullest stage, with the scales of quantised ones.

    Raises:
        FieldError: the plan does not go with the model.
    """
    check(model, plan)
    model = planned(model, plan)
    spans = stages(model.num_layers, plan.pp)
    found = [sum(n * _layer_bytes(model, layer, plan) for layer, n in model.distinct(span)) for span in spans]
    first, last = _bytes(model, model.first_weights(), plan), _bytes(model, model.last_weights(), plan)
    if model.head.tied and plan.pp > 1:
        last += _bytes(model, (w for w in model.first_weights() if w.name.startswith("embed_tokens")), plan)
    found[0] += first
    found[-1] += last
    return max(found)


def _layer_bytes(model: Model, layer: Layer, plan: Plan) -> float:
    total = 0.0
    for weight in model.layer_weights(layer):
        scheme = layer.scheme(weight.name)
        stored = weight.parameters * model.dtype.bytes if scheme is None else scheme.bytes(weight)
        total += stored * held(weight, plan)
    return total


def _bytes(model: Model, weights: Iterable[Weight], plan: Plan) -> float:
    return sum(w.parameters * model.dtype.bytes * held(w, plan) for w in weights)


def kv_bytes_per_token(model: Model) -> float:
    """What all layers of the whole model keep of a token, windows aside."""
    return sum(count * _token_bytes(model, layer, 1) for layer, count in model.distinct())


def kv_bytes_per_token_per_gpu(model: Model, plan: Plan) -> float:
    """What a GPU of the fullest stage keeps of a token, windows aside.

    Raises:
        FieldError: the plan does not go with the model.
    """
    check(model, plan)
    model = planned(model, plan)
    return max(
        sum(count * _token_bytes(model, layer, plan.tp) for layer, count in model.distinct(span))
        for span in stages(model.num_layers, plan.pp)
    )


def _token_bytes(model: Model, layer: Layer, tp: int) -> float:
    if isinstance(layer.mixer, GroupedAttention) and not model.is_decoder:
        return 0.0
    return token_bytes(layer.mixer, cache_dtype(model).bytes, tp)


def token_bytes(mixer: Mixer, value_bytes: float, tp: int = 1) -> float:
    """What one of `tp` ranks keeps of a token in a layer: its heads, at least one; latents whole; a state nothing."""
    if isinstance(mixer, GroupedAttention):
        return mixer.kv_values() * value_bytes / min(tp, mixer.kv_heads)
    if isinstance(mixer, LatentAttention):
        return mixer.kv_values() * value_bytes + mixer.indexed_bytes()
    return 0.0


def request_bytes(model: Model, plan: Plan, tokens: Number, page_tokens: int = PAGE_TOKENS) -> Number:
    """What a GPU of the fullest stage keeps of one request of that many tokens, in whole pages.

    Layers with a window keep no more than the window; linear attention keeps a state that does not grow.

    Raises:
        FieldError: the plan does not go with the model.
    """
    check(model, plan)
    model = planned(model, plan)
    found = [
        sum(count * _request_bytes(model, layer, plan, tokens, page_tokens) for layer, count in model.distinct(span))
        for span in stages(model.num_layers, plan.pp)
    ]
    return reduce(maximum, found)


def _request_bytes(model: Model, layer: Layer, plan: Plan, tokens: Number, page_tokens: int) -> Number:
    mixer = layer.mixer
    if isinstance(mixer, DeltaNet):
        return mixer.state_bytes(model.dtype.bytes) / plan.tp
    kept = minimum(tokens, mixer.window) if isinstance(mixer, GroupedAttention) and mixer.window else tokens
    return ceil_div(kept, page_tokens) * page_tokens * _token_bytes(model, layer, plan.tp)
