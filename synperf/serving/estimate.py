"""A model, a plan and a load -> what requests see: memory first, then the iterations of the engine, and their times."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

from ..api import predict
from ..hardware import GPU
from ..models import Model, Plan
from .alike import alike
from .answer import Forecast, Interval, Times
from .capacity import Capacity, capacity
from .engine import DEFAULT, Engine, engine
from .factors import Factors
from .in_step import in_step
from .load import times_of
from .static_record import Spreads, fitted
from .static_times import static_times
from .step_costs import StepCosts
from .workload import StaticBatch, Workload

_BARE = "none, as one estimator of kernels was asked for: kernels and messages alone"


def estimate(model: Model, plan: Plan, workload: Workload, gpu: GPU, *, origin: str | None = None) -> Forecast:
    """What requests see of a model on a plan's GPUs under a load, and where the time goes.

    `origin` forces one estimator of kernels.

    Raises:
        FieldError: the plan does not go with the model, or a request can never fit.
        UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
    """
    serving = engine(plan.engine or DEFAULT)
    room = _capacity(model, gpu, plan, workload, serving)
    told: dict[str, Any] = {
        "model": model.name, "gpu": gpu.key, "engine": serving.name, "plan": plan, "workload": workload,
        "memory": room.memory,
    }  # fmt: skip
    if not room.fits:
        return Forecast(**told, times=None, would_fit=room.would_fit, assumptions=room.assumptions)
    kernels = partial(in_step, estimate=partial(predict, origin=origin))
    known = None if origin else fitted(gpu)
    factors = known.factors if known else Factors()
    if isinstance(workload, StaticBatch):
        times, said = static_times(model, plan, gpu, workload, serving, factors, kernels)
        if known:
            times = _with_intervals(times, known.spreads)
    else:
        costs = partial(StepCosts, model, plan, gpu, padded=serving.graphs, estimate=kernels)
        times, said = times_of(workload, plan, serving.policy, factors, costs, room.max_tokens)
    told["origin"] = known.said if known else _BARE
    return Forecast(**told, times=times, assumptions=alike((*room.assumptions, *said)))


def _with_intervals(times: Times, spreads: Spreads) -> Times:
    """The times with what measured static batches lie between around them."""
    return replace(
        times,
        ttft_interval=Interval(*spreads.prefill),
        tpot_interval=Interval(*spreads.decode) if times.tpot else None,
        e2e_interval=Interval(*(spreads.total if times.tpot else spreads.prefill)),
    )


def _capacity(model: Model, gpu: GPU, plan: Plan, workload: Workload, serving: Engine) -> Capacity:
    """The room for what must be held at once: all requests of a static batch, the longest one of other loads."""
    arrivals = workload.arrivals()
    lengths = arrivals.isl + arrivals.osl
    if isinstance(workload, StaticBatch):
        requests = ceil(len(lengths) / plan.dp)
        return capacity(model, gpu, plan, serving.utilization, ceil(lengths.mean()), requests)
    return capacity(model, gpu, plan, serving.utilization, int(lengths.max()))
