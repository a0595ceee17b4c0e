"""Whether a load fits into the memory of a plan's GPUs, how many tokens its cache has room for, and what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import PerfError
from ..hardware import GPU, DType, gpus
from ..models import Model, Plan
from .memory import Memory, memory

_LEFT_BYTES = 5e8  # of the driver and its contexts. Source: with it all measured serving points fit
_MOST_TP = 64
_NARROWER = (DType.FP8, DType.NVFP4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """`max_tokens` is the room of the cache of one group of ranks, None for a model that keeps no tokens."""

    memory: Memory
    max_tokens: int | None
    would_fit: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether weights, activations and the requests that must be held at once find room."""
        return self.memory.fits


def capacity(model: Model, gpu: GPU, plan: Plan, utilization: float, length: int, requests: int = 1) -> Capacity:
    """The room for so many requests at once of that length, with as much of the memory as an engine takes.

    Where that is too little for them, all of the memory but what the driver holds is taken, and said.

    Raises:
        FieldError: the plan does not go with the model, or a number is out of range.
    """
    found = memory(model, gpu, plan, seq=length, batch=requests, utilization=utilization)
    if found.fits:
        return Capacity(memory=found, max_tokens=found.max_tokens, assumptions=found.assumptions)
    most = 1.0 - _LEFT_BYTES / gpu.dram_bytes
    wider = memory(model, gpu, plan, seq=length, batch=requests, utilization=most)
    if not wider.fits:
        return Capacity(memory=found, max_tokens=found.max_tokens, assumptions=found.assumptions,
                    would_fit=tuple(_alternatives(model, gpu, plan, wider)))  # fmt: skip
    said = f"utilization: {utilization:g} of the memory is too little, so {most:.3f} is taken"
    return Capacity(memory=wider, max_tokens=wider.max_tokens, assumptions=(*wider.assumptions, said))


def _alternatives(model: Model, gpu: GPU, plan: Plan, found: Memory) -> Iterator[str]:
    """One change each that would make it fit."""
    if found.max_requests and (found.batch or 1) > 1:
        yield f"{found.max_requests} requests of that length at once"
    for tp in _powers(plan.tp * 2, _MOST_TP):
        if _would(model, gpu, _changed(plan, tp=tp), found):
            yield f"tp {tp}"
            break
    for dtype in _NARROWER:
        if dtype in gpu.dtypes() and _is_smaller(model, gpu, _changed(plan, dtype=dtype), found):
            yield f"dtype {dtype}"
            break
    if model.is_decoder and plan.kv_dtype is None and _would(model, gpu, _changed(plan, kv_dtype=DType.FP8), found):
        yield f"kv_dtype {DType.FP8}"
    larger = [other for other in gpus() if other.dram_bytes > gpu.dram_bytes]
    holding = [other for other in larger if _would(model, other, plan, found)]
    if holding:
        least = min(holding, key=lambda other: other.dram_bytes)
        yield f"GPUs of {least.dram_bytes / 1e9:.0f} GB, such as {least.key}"


def _is_smaller(model: Model, gpu: GPU, plan: Plan | None, asked: Memory) -> bool:
    """Whether weights in that format are narrower than they were, and all fits with them."""
    if plan is None:
        return False
    try:
        is_narrower = memory(model, gpu, plan).weights_bytes < asked.weights_bytes
    except PerfError:
        return False
    return is_narrower and _would(model, gpu, plan, asked)


def _changed(plan: Plan, **fields: object) -> Plan | None:
    try:
        return replace(plan, **fields)  # type: ignore[arg-type]  # fields of a plan
    except PerfError:
        return None


def _would(model: Model, gpu: GPU, plan: Plan | None, asked: Memory) -> bool:
    if plan is None:
        return False
    utilization = asked.usable_bytes / asked.capacity_bytes
    try:
        return memory(model, gpu, plan, seq=asked.seq, batch=asked.batch, utilization=utilization).fits
    except PerfError:
        return False


def _powers(least: int, most: int) -> Iterator[int]:
    while least <= most:
        yield least
        least *= 2
