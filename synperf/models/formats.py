"""The formats in which a plan runs a model: of a checkpoint, or those that the plan asks for."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..hardware import DType
from .description import Layer, Model
from .plan import Plan
from .quantisation import in_format
from .schemes import Scheme, scheme_of


def planned(model: Model, plan: Plan) -> Model:
    """The model as the plan stores it: the checkpoint's formats, but for those that the plan gives.

    Raises:
        FieldError: no way is known to store weights in that format.
    """
    if plan.dtype is None and plan.kv_dtype is None:
        return model
    return _planned(model, plan.dtype, plan.kv_dtype)


@lru_cache(maxsize=256)
def _planned(model: Model, dtype: DType | None, kv_dtype: DType | None) -> Model:
    found = model if dtype is None or dtype in _dtypes(model) else _stored_as(model, dtype)
    return found if kv_dtype is None else replace(found, kv_dtype=kv_dtype)


def _dtypes(model: Model) -> set[DType]:
    """Formats of quantised weights; of a checkpoint that is not quantised, that of all."""
    return {scheme.dtype for layer in model.kinds for _, scheme in layer.schemes} or {model.dtype}


def _stored_as(model: Model, dtype: DType) -> Model:
    """All linear layers in one format, or nothing quantised where that format is none of those."""
    scheme = scheme_of(dtype)
    layers = [_layer_as(model, layer, scheme) for layer in model.kinds]
    kinds = tuple(dict.fromkeys(layers))
    order = tuple(kinds.index(layers[kind]) for kind in model.order)
    return replace(model, kinds=kinds, order=order, dtype=model.dtype if scheme else dtype)


def _layer_as(model: Model, layer: Layer, scheme: Scheme | None) -> Layer:
    """A layer in one format; one that stores values as the checkpoint does changes products of these alone."""
    if scheme is None:
        return replace(layer, schemes=())
    if layer.schemes and all(replace(own, dtype=scheme.dtype) == scheme for _, own in layer.schemes):
        return replace(layer, schemes=tuple((name, scheme) for name, _ in layer.schemes))
    return replace(layer, schemes=in_format(scheme).schemes(0, model.layer_weights(layer)))


def main_format(model: Model, plan: Plan) -> DType:
    """The format in which most weights are multiplied."""
    found = planned(model, plan)
    schemes = [scheme.dtype for layer in found.kinds for _, scheme in layer.schemes]
    return max(schemes, key=schemes.count) if schemes else found.dtype


def cache_dtype(model: Model) -> DType:
    """The format of the cache: that of what is not quantised, where nothing else is said."""
    return model.dtype if model.kv_dtype is None else model.kv_dtype
