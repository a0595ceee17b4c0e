"""A model, a plan and a load -> what requests see: memory first, then the iterations of the engine, and their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from ..api import predict
from ..collectives.place import place
from ..errors import FieldError
from ..hardware import GPU, DType
from ..hardware.makers import NVIDIA
from ..models import Model, Plan
from ..models.formats import main_format
from .alike import alike
from .answer import Forecast
from .capacity import Capacity, capacity
from .corrected import with_intervals
from .engine import DEFAULT, Engine, engine
from .factors import FIRST_TOKEN
from .fitted import Fitted, bare
from .in_step import in_step
from .policy import Policy
from .static_record import fitted
from .static_times import static_times
from .workload import StaticBatch, Workload

if TYPE_CHECKING:
    from .stack_file import StackFile

_BARE = "none, as one estimator of kernels was asked for: kernels and messages alone"
LEARNED = "learned"  # answers where there are weights, the analytical estimate elsewhere: as where none is asked for
_PLAIN = "none, as {} serves nobody: kernels and messages alone"
_MEASURED_STATIC = (DType.BF16, DType.FP16)  # formats of the static batches that were measured


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
    plan = replace(plan, engine=serving.name, dtype=plan.dtype or _run_as(model, plan, gpu))
    _check(model, plan, workload, gpu)
    room = _capacity(model, gpu, plan, workload, serving)
    told: dict[str, Any] = {
        "model": model.name, "gpu": gpu.key, "engine": serving.name, "plan": plan, "workload": workload,
        "memory": room.memory,
    }  # fmt: skip
    if not room.fits:
        return Forecast(**told, times=None, would_fit=room.would_fit, assumptions=room.assumptions)
    kernels = partial(in_step, estimate=partial(predict, origin=None if origin == LEARNED else origin))
    if origin or not serving.serves:
        known = bare(serving.policy, _BARE if origin else _PLAIN.format(serving.name))
    else:
        known = _known(model, plan, gpu, workload, serving.policy, version, own)
    if isinstance(workload, StaticBatch):
        times, said = static_times(model, plan, gpu, workload, serving, known.factors, kernels)
    else:
        from .loaded import loaded_times  # a static batch needs no schedule

        costs = {"model": model, "plan": plan, "gpu": gpu, "padded": serving.graphs, "estimate": kernels}
        times, said = loaded_times(workload, plan, known, costs, room.max_tokens)
    assumed = alike((*room.assumptions, *said, *_noted(model, plan, workload, known, version, own)))
    return Forecast(**told, times=with_intervals(times, known), origin=known.origin, assumptions=assumed)


def _run_as(model: Model, plan: Plan, gpu: GPU) -> DType | None:
    """The format that engines multiply in where it is not that of the checkpoint; None where it is.

    On compute capability 10 they quantise activations to fp8 beside mxfp4 weights. Source: kernel_source of the tables
    of vllm 0.24, sglang 0.5.14 and TensorRT-LLM 1.3 for gpt-oss.
    """
    is_blackwell = gpu.maker == NVIDIA and gpu.cc[0] == 10
    return DType.MXFP4_FP8 if is_blackwell and main_format(model, plan) is DType.MXFP4 else None


def _check(model: Model, plan: Plan, load: Workload, gpu: GPU) -> None:
    """Checks what no part of the estimate would see.

    Raises:
        FieldError: an encoder is asked for more than a batch; stages stand on several nodes without a network.
    """
    if not model.is_decoder and not isinstance(load, StaticBatch):
        right = "right would be --batch N, a static batch"
        raise FieldError(f"workload: {model.name} is an encoder, which answers a batch at once; {right}")
    if plan.pp > 1 and plan.network is None:
        place(plan, gpu, plan.gpus, None)  # which refuses several nodes without a network


def _noted(
    model: Model, plan: Plan, load: Workload, known: Fitted, version: str | None, own: StackFile | None
) -> Iterator[str]:
    """What was asked for and has no effect, or was chosen."""
    if not model.is_decoder and isinstance(load, StaticBatch) and max(load.osl) > 1:
        yield f"osl: {model.name} is an encoder, which draws no tokens"
    if plan.dtype is DType.MXFP4_FP8 and main_format(model, replace(plan, dtype=None)) is DType.MXFP4:
        yield "dtype: mxfp4_fp8, in which engines run mxfp4 checkpoints on this GPU; give it to have another"
    if own is not None and not known.is_own:
        yield "calibration: it has no points for this engine, GPU and kind of load, and was not used"
    if version is not None and version not in known.versions:
        yield f"engine-version: {version[:40]!r} was not measured here; known: {', '.join(known.versions) or 'none'}"


def _known(
    model: Model, plan: Plan, gpu: GPU, load: Workload, policy: Policy, version: str | None, own: StackFile | None
) -> Fitted:
    """The factors of the stack, or of static batches for these, where nothing nearer was measured."""
    is_static = isinstance(load, StaticBatch)
    is_of_format = is_static and main_format(model, plan) in _MEASURED_STATIC
    if is_of_format:
        return fitted(gpu).of(policy)
    from .stacks import stack  # static batches in formats that were measured need none

    found = stack(model, plan, gpu, version, own)
    if not is_static:
        return found
    if found.is_of_gpu:
        return replace(found, factors=replace(found.factors, **dict.fromkeys(FIRST_TOKEN, 0.0)))
    static = fitted(gpu)
    return replace(found, factors=static.factors, origin=static.said)


def _capacity(model: Model, gpu: GPU, plan: Plan, workload: Workload, serving: Engine) -> Capacity:
    """The room for what must be held at once: all requests of a static batch, the longest one of other loads."""
    arrivals = workload.arrivals()
    lengths = arrivals.isl + arrivals.osl
    if isinstance(workload, StaticBatch):
        requests = ceil(len(lengths) / plan.dp)
        return capacity(model, gpu, plan, serving.utilization, ceil(lengths.mean()), requests)
    return capacity(model, gpu, plan, serving.utilization, int(lengths.max()))
