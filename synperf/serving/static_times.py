"""A static batch on a plan: what its requests see, which all wait for all prompts and leave with their answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..hardware import GPU
from ..models import Model, Plan
from .answer import PREFILL, Share, Times
from .engine import Engine
from .factors import Factors
from .in_step import Predict
from .iterations import Floats, Integers
from .roofline import roofline_s
from .spread import Spread
from .static import Static, static
from .static_load import Listed, Uniform
from .workload import StaticBatch

_MOST_LENGTHS = 8  # of answers that are timed; others are read between them


def static_times(
    model: Model, plan: Plan, gpu: GPU, load: StaticBatch, serving: Engine, factors: Factors, estimate: Predict
) -> tuple[Times, tuple[str, ...]]:
    """What requests of a static batch see, and what that rests on.

    Raises:
        FieldError: the plan does not go with the model.
        UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
    """
    timed = partial(static, model, plan, gpu, factors=factors, padded=serving.graphs, estimate=estimate)
    whole = timed(_load(load))
    osl: Integers = np.array(load.osl if model.is_decoder else [1] * len(load.osl), dtype=np.int64)
    ended = _ends(timed, load, whole, osl)
    several = osl > 1
    tpot = (ended[several] - whole.prefill_s) / (osl[several] - 1)
    span_s, least_s = float(ended.max()), roofline_s(model, plan, gpu, load)
    tokens, requests = int(osl.sum()), len(osl)
    return Times(
        ttft=_spread(np.full(requests, whole.prefill_s)),
        tpot=Spread.of(tpot),
        itl=_gaps(whole, int(several.sum())),
        e2e=_spread(ended),
        decode_step_s=float(whole.decode_step_s) if whole.steps else None,
        floor_s=None if least_s is None else max(float(whole.prefill_floor_s + whole.decode_floor_s), least_s),
        roofline_s=least_s,
        tokens_per_s=tokens / span_s,
        tokens_per_s_per_gpu=tokens / span_s / plan.gpus,
        requests_per_s=requests / span_s,
        mean_concurrency=float(ended.sum()) / span_s,
        steady=None,
        left_out="",
        breakdown=_breakdown(whole),
    ), whole.assumptions


def _load(load: StaticBatch) -> Uniform | Listed:
    """The load as one of columns, where all requests are alike."""
    sizes = set(zip(load.isl, load.osl, load.cached, strict=True))
    if len(sizes) > 1:
        return Listed(isl=load.isl, osl=load.osl, cached=load.cached)
    isl, osl, cached = next(iter(sizes))
    return Uniform(batch=len(load.isl), isl=isl, osl=osl, cached=cached)


def _ends(timed: Callable[[Listed], Static], load: StaticBatch, whole: Static, osl: Integers) -> Floats:
    """When each request has its answer: as when all others stopped there too, for some lengths of answers."""
    if osl.min() == osl.max():
        return np.full(len(osl), float(whole.total_s))
    known = np.unique(np.quantile(osl, np.linspace(0, 1, _MOST_LENGTHS), method="nearest"))
    cut = [Listed(isl=load.isl, osl=np.minimum(osl, most).tolist(), cached=load.cached) for most in known[:-1]]
    ends = [*(float(timed(one).total_s) for one in cut), float(whole.total_s)]
    found: Floats = np.interp(osl, known, ends)
    return found


def _spread(values: Floats) -> Spread:
    found = Spread.of(values)
    assert found is not None  # there is a request
    return found


def _gaps(whole: Static, several: int) -> Spread | None:
    """The gap between two tokens, which grows with the cache by little: all are as the mean one."""
    return Spread.of(np.full(1, float(whole.decode_step_s))) if several else None


def _breakdown(whole: Static) -> tuple[Share, ...]:
    """The parts that take time, the longest of a phase first."""
    total = float(whole.total_s)
    found = [
        Share(part=one.part, phase=one.phase, family=one.family, kind=one.kind, time_s=float(one.time_s),
              share=float(one.time_s) / total, origin=one.origin, limiter=one.limiter)
        for one in whole.parts if one.time_s
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (one.phase != PREFILL, -one.time_s)))
