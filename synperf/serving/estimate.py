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
from .answer import Forecast
from .capacity import Capacity, capacity
from .closed import closed_times
from .corrected import with_intervals
from .engine import DEFAULT, Engine, engine
from .factors import FIRST_TOKEN
from .fitting.simulated import format_of
from .in_step import in_step
from .load import times_of
from .stack_file import StackFile
from .stacks import Fitted, bare, stack
from .static_record import fitted
from .static_times import static_times
from .step_costs import StepCosts
from .workload import ClosedLoop, StaticBatch, Workload

_BARE = "none, as one estimator of kernels was asked for: kernels and messages alone"
_PLAIN = "none, as {} serves nobody: kernels and messages alone"
_MEASURED_STATIC = ("bf16", "fp16")  # formats of the static batches that were measured


def estimate(
    model: Model, plan: Plan, workload: Workload, gpu: GPU, *, origin: str | None = None, version: str | None = None,
    own: StackFile | None = None,
) -> Forecast:  # fmt: skip
    """What requests see of a model on a plan's GPUs under a load, and where the time goes.

    `origin` forces one estimator of kernels, without fitted factors. `version` is that of the engine; `own` is
    what `synperf fit-engine` wrote.

    Raises:
        FieldError: the plan does not go with the model, or a request can never fit.
        UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
    """
    serving = engine(plan.engine or DEFAULT)
    plan = replace(plan, engine=serving.name)
    room = _capacity(model, gpu, plan, workload, serving)
    told: dict[str, Any] = {
        "model": model.name, "gpu": gpu.key, "engine": serving.name, "plan": plan, "workload": workload,
        "memory": room.memory,
    }  # fmt: skip
    if not room.fits:
        return Forecast(**told, times=None, would_fit=room.would_fit, assumptions=room.assumptions)
    if origin or not serving.serves:
        known = bare(serving.policy, _BARE if origin else _PLAIN.format(serving.name))
    else:
        known = _known(model, plan, gpu, workload, stack(model, plan, gpu, version, own))
    kernels = partial(in_step, estimate=partial(predict, origin=origin))
    costs = partial(StepCosts, model, plan, gpu, padded=serving.graphs, estimate=kernels)
    if isinstance(workload, StaticBatch):
        times, said = static_times(model, plan, gpu, workload, serving, known.factors, kernels)
    elif isinstance(workload, ClosedLoop):
        times, said = closed_times(workload, plan, known, costs, room.max_tokens)
    else:
        times, said = times_of(workload, plan, known.policy, known.factors, costs, room.max_tokens)
    assumed = alike((*room.assumptions, *said))
    return Forecast(**told, times=with_intervals(times, known), origin=known.origin, assumptions=assumed)


def _known(model: Model, plan: Plan, gpu: GPU, load: Workload, found: Fitted) -> Fitted:
    """The factors of the stack, or of static batches for these, where nothing nearer was measured."""
    if not isinstance(load, StaticBatch):
        return found
    is_of_format = format_of(model, plan) in _MEASURED_STATIC
    if found.is_of_gpu and not is_of_format:
        return replace(found, factors=replace(found.factors, **dict.fromkeys(FIRST_TOKEN, 0.0)))
    static = fitted(gpu)
    found = replace(found, factors=static.factors, origin=static.said)
    return replace(found, **static.intervals()) if is_of_format else found  # type: ignore[arg-type]  # three intervals


def _capacity(model: Model, gpu: GPU, plan: Plan, workload: Workload, serving: Engine) -> Capacity:
    """The room for what must be held at once: all requests of a static batch, the longest one of other loads."""
    arrivals = workload.arrivals()
    lengths = arrivals.isl + arrivals.osl
    if isinstance(workload, StaticBatch):
        requests = ceil(len(lengths) / plan.dp)
        return capacity(model, gpu, plan, serving.utilization, ceil(lengths.mean()), requests)
    return capacity(model, gpu, plan, serving.utilization, int(lengths.max()))
