"""The least time of a static batch: every iteration as fast as its products, or the bytes that it must read, allow.

Weights are read once in each iteration, of experts at least those of one token, and the cache of every request; tables
that tokens are looked up in are not. No kernel is above this, whatever an engine fuses or overlaps.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from ..hardware import GPU
from ..models import Batch, Model, Plan, Requests, pass_bytes, pass_flop
from ..models.batch import prefill
from ..models.formats import planned
from ..numeric import Number, maximum
from .workload import StaticBatch


def roofline_s(model: Model, plan: Plan, gpu: GPU, load: StaticBatch) -> float | None:
    """Seconds from the prompts to the last token; None where answers have several lengths.

    Raises:
        FieldError: the plan does not go with the model.
        UnsupportedError: the GPU lacks the format.
    """
    osl = set(load.osl) if model.is_decoder else {1}
    if len(osl) > 1 or any(load.cached):
        return None
    groups = ceil(len(load.isl) / plan.dp)
    first = prefill(sorted(load.isl, reverse=True)[:: plan.dp])
    steps = next(iter(osl)) - 1
    found = float(_pass_s(model, plan, gpu, first))
    if steps:
        lengths = float(np.mean(load.isl)) + 1 + np.arange(steps)
        decodes = Batch((Requests(count=np.full(steps, groups), kv_len=np.round(lengths)),))
        found += float(np.sum(_pass_s(model, plan, gpu, decodes)))
    return found


def _pass_s(model: Model, plan: Plan, gpu: GPU, batch: Batch) -> Number:
    """Of all stages, one after another, each of which reads its part of the layers."""
    math_s = pass_flop(model, batch) / (plan.tp * _peak_flop_per_s(planned(model, plan), gpu))
    return maximum(math_s, pass_bytes(model, plan, batch) / gpu.dram_bytes_per_s)


def _peak_flop_per_s(model: Model, gpu: GPU) -> float:
    """Of the fastest format that a layer multiplies in."""
    formats = {model.dtype, *(scheme.dtype for layer in model.kinds for _, scheme in layer.schemes)}
    return max(gpu.peak_flop_per_s(one) for one in formats)
