"""What a model takes of the memory of each GPU, and how many tokens fit beside its weights."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import GPU
from ..kernels.fields import whole
from ..models import (
    Model,
    Plan,
    assumptions,
    kv_bytes_per_token,
    kv_bytes_per_token_per_gpu,
    parameters,
    request_bytes,
    weights_bytes,
)
from ..models.formats import planned

UTILIZATION = 0.9  # share of the memory that an engine takes. Source: vllm, gpu_memory_utilization
ACTIVATIONS_BYTES = 2e9  # what activations take where nothing is said: a guess, which the answer names
MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Bytes are those of one GPU of the fullest stage, but `kv_bytes_per_token`, which is of the whole model.

    `max_tokens` fit in the cache at once, over all requests of a group of ranks; an encoder keeps none. With `seq` and
    `batch`, `kv_bytes` is what so many requests of that length keep, windows and states as they are; `max_requests` of
    that length fit. `overhead_bytes` is what the engine leaves to others.
    """

    model: str
    gpu: str
    gpus: int
    parameters: int
    weights_bytes: float
    kv_bytes_per_token: float
    kv_bytes_per_token_per_gpu: float
    activations_bytes: float
    overhead_bytes: float
    capacity_bytes: float
    usable_bytes: float
    fits: bool
    max_tokens: int | None = None
    seq: int | None = None
    batch: int | None = None
    kv_bytes: float | None = None
    max_requests: int | None = None
    assumptions: tuple[str, ...] = ()


def memory(
    model: Model,
    gpu: GPU,
    plan: Plan,
    *,
    seq: int | None = None,
    batch: int | None = None,
    utilization: float = UTILIZATION,
    activations_bytes: float | None = None,
) -> Memory:
    """The memory of a model on a GPU, as one of the ranks of a plan.

    Raises:
        FieldError: the plan does not go with the model, or a number is out of range.
    """
    _check_share(utilization)
    activations = _activations(activations_bytes)
    stored = planned(model, plan)
    weights, per_gpu = weights_bytes(model, plan), kv_bytes_per_token_per_gpu(model, plan)
    usable = gpu.dram_bytes * utilization
    left = usable - weights - activations
    length, requests = _count("seq", seq), _count("batch", batch)
    one = None if length is None else float(request_bytes(model, plan, length))
    kept = None if one is None else one * (requests or 1)
    return Memory(
        model=model.name,
        gpu=gpu.key,
        gpus=plan.gpus,
        parameters=parameters(model),
        weights_bytes=weights,
        kv_bytes_per_token=kv_bytes_per_token(stored),
        kv_bytes_per_token_per_gpu=per_gpu,
        activations_bytes=activations,
        overhead_bytes=gpu.dram_bytes - usable,
        capacity_bytes=gpu.dram_bytes,
        usable_bytes=usable,
        fits=left >= (kept or 0.0),
        max_tokens=int(max(left, 0.0) / per_gpu) if per_gpu else None,
        seq=length,
        batch=None if kept is None else requests or 1,
        kv_bytes=kept,
        max_requests=int(max(left, 0.0) / one) if one else None,
        assumptions=(*gpu.assumptions, *assumptions(model, plan), *_said(activations_bytes)),
    )


def _said(activations_bytes: float | None) -> tuple[str, ...]:
    return (
        () if activations_bytes is not None else (f"activations_bytes: {ACTIVATIONS_BYTES:g}, which nothing measured",)
    )


def _activations(given: float | None) -> float:
    if given is None:
        return ACTIVATIONS_BYTES
    if not 0 <= given < 1e15:
        raise FieldError(f"activations_bytes must be from 0 to 1e15, got {given:g}")
    return float(given)


def _check_share(utilization: float) -> None:
    if not 0 < utilization <= 1:
        raise FieldError(f"utilization must be above 0 and up to 1, got {utilization:g}")


def _count(name: str, given: int | None) -> int | None:
    return None if given is None else int(whole(name, given, MOST_TOKENS))
