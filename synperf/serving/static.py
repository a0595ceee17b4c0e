"""How long a static batch takes: prompts in one iteration or in chunks, then decode steps over a growing cache.

Every kernel is predicted at the sizes that it has. What new tokens alone decide is the same in all steps of the same
requests; what lengths decide is smooth in them, and two steps stand for all (`static_load.Span`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..collectives import Collective
from ..estimators import Estimate
from ..hardware import GPU
from ..models import Batch, Entry, Model, Plan, Requests, calls
from ..models.parts import BY_LENGTHS
from ..numeric import Number, maximum
from .answer import ATTENTION, COLLECTIVES, DECODE, HOST, KERNELS, PREFILL
from .factors import ITERATION, Factors
from .in_step import Predict, in_step
from .most import most
from .static_load import Listed, Span, Uniform

_ADDED = ("time_s", "low_s", "high_s", "floor_s")
_COUNTED = ("host_s", "request_s", "token_s")  # factors of what `Static.counts` counts
_NO_FACTORS = Factors()
Run = Callable[[Batch], tuple[Entry, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one kind of kernel or message, or the host, takes in all iterations of a phase: numbers, or columns.

    `kind` says which of the factors it has: kernels, attention, collectives, or host.
    """

    part: str
    phase: str
    family: str
    kind: str
    time_s: Number
    low_s: Number
    high_s: Number
    floor_s: Number
    origin: str
    limiter: str

    def times(self, factor: float) -> Part:
        """The part with a factor on its time; no time is below its floor."""
        low, time, high = (maximum(factor * value, self.floor_s) for value in (self.low_s, self.time_s, self.high_s))
        return replace(self, low_s=low, time_s=time, high_s=high)


@dataclass(frozen=True, kw_only=True)
class Static:
    """The time of a static batch; `steps` are its decode steps. Numbers, or columns of many loads.

    `predicted` are its parts before factors. `counts` has of every phase its iterations, the requests in decode of all
    of them, and their new prompt tokens, which the host's times are of.
    """

    predicted: tuple[Part, ...]
    counts: Mapping[str, tuple[Number, Number, Number]]
    steps: Number
    factors: Factors = _NO_FACTORS
    assumptions: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What every part of a phase takes, the host last."""
        found = [one.times(getattr(self.factors, _factor(one))) for one in self.predicted]
        return (*found, *(_host(phase, self._host_s(phase)) for phase in self.counts))

    @property
    def prefill_s(self) -> Number:
        """Seconds until all prompts are done, and their first tokens drawn."""
        return self._sum(PREFILL, "time_s")

    @property
    def decode_s(self) -> Number:
        """Seconds of all decode steps."""
        return self._sum(DECODE, "time_s")

    @property
    def decode_step_s(self) -> Number:
        """The mean decode step; 0 where there is none."""
        return self.decode_s / maximum(self.steps, 1)

    @property
    def total_s(self) -> Number:
        """Seconds until the last answer is complete."""
        return self.prefill_s + self.decode_s

    @property
    def prefill_floor_s(self) -> Number:
        """Below which no prefill is."""
        return self._sum(PREFILL, "floor_s")

    @property
    def decode_floor_s(self) -> Number:
        """Below which decode steps are not, all together."""
        return self._sum(DECODE, "floor_s")

    def with_factors(self, factors: Factors) -> Static:
        """The same batch under other factors."""
        return replace(self, factors=factors)

    def columns(self, phase: str) -> list[Number]:
        """What the factors of `factors.ITERATION` multiply in a phase, in that order; floors left aside."""
        names = dict.fromkeys(ITERATION, 0.0 * self.steps)
        for one in self.predicted:
            if one.phase == phase:
                names[_factor(one)] = names[_factor(one)] + one.time_s
        return list((names | self._counted(phase)).values())

    def _counted(self, phase: str) -> dict[str, Number]:
        names = (f"{phase}_{name}" for name in _COUNTED)
        return {n: count for n, count in zip(names, self.counts.get(phase, ()), strict=False) if n in ITERATION}

    def _host_s(self, phase: str) -> Number:
        return sum(getattr(self.factors, name) * count for name, count in self._counted(phase).items())

    def _sum(self, phase: str, name: str) -> Number:
        return sum((getattr(one, name) for one in self.parts if one.phase == phase), 0.0 * self.steps)


def static(
    model: Model,
    plan: Plan,
    gpu: GPU,
    load: Uniform | Listed,
    factors: Factors | None = None,
    *,
    token_budget: int | None = None,
    padded: Sequence[int] = (),
    kernels: Mapping[str, str] | None = None,
    estimate: Predict = in_step,
) -> Static:
    """The time of a static batch, on the fullest of the plan's groups of ranks.

    Prompts run in one iteration, or in chunks of `token_budget` new tokens. `padded` are sizes that an engine pads
    batches of decodes to; `kernels` has kernels by part where they are not the engine's own choice. Stages of a
    pipeline run one after another.

    Raises:
        FieldError: the plan does not go with the model, or the load is not what it should be.
        UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
    """
    run, taken = partial(_run, model, plan, kernels or {}), _Taken(gpu, estimate)
    for batch in load.prompts(plan.dp, token_budget):
        taken.add(PREFILL, run(batch), 1)
        taken.count(PREFILL, 1, 0, batch.tokens)
    for span in load.spans(plan.dp) if model.is_decoder else ():
        _add_span(taken, run, span, padded)
    return Static(
        predicted=tuple(taken.parts.values()), counts=taken.counts, steps=load.steps, factors=factors or _NO_FACTORS,
        assumptions=tuple(taken.assumptions),
    )  # fmt: skip


def _run(model: Model, plan: Plan, kernels: Mapping[str, str], batch: Batch) -> tuple[Entry, ...]:
    found = calls(model, plan, batch)
    if not kernels:
        return found
    return tuple(replace(one, call=_with_kernel(one, kernels)) if one.part in kernels else one for one in found)


def _with_kernel(one: Entry, kernels: Mapping[str, str]) -> Any:
    call: Any = one.call
    return replace(call, kernel=kernels[one.part])


def _add_span(taken: _Taken, run: Run, span: Span, padded: Sequence[int]) -> None:
    """Adds decode steps of the same requests: what lengths decide in each of its batches, the rest in one."""
    if not np.any(span.steps > 0):
        return
    entries = [run(batch) for batch in span.batches]
    first = span.batches[0]
    wide = _padded(first, padded)
    rest = entries[0] if wide is first else run(wide)
    taken.add(DECODE, [one for one in rest if one.part not in BY_LENGTHS], span.steps)
    for each in entries:
        taken.add(DECODE, [one for one in each if one.part in BY_LENGTHS], span.steps / len(entries))
    taken.count(DECODE, span.steps, span.steps * first.sampled, 0)


def _padded(batch: Batch, sizes: Sequence[int]) -> Batch:
    """The batch with as many requests as the next of the sizes."""
    found = np.asarray(batch.sampled)
    known = np.array(sorted(sizes), dtype=float)
    at = np.searchsorted(known, found)
    if not len(known) or np.all(at == len(known)):
        return batch
    count = np.where(at < len(known), known[np.minimum(at, len(known) - 1)], found)
    if np.array_equal(count, found):
        return batch
    return Batch((Requests(count=count if count.ndim else int(count), kv_len=batch.requests[0].kv_len),))


class _Taken:
    """What parts take, added up call by call."""

    def __init__(self, gpu: GPU, estimate: Predict) -> None:
        self._gpu, self._estimate = gpu, estimate
        self.parts: dict[tuple[str, str, str], Part] = {}
        self.counts: dict[str, tuple[Number, Number, Number]] = {}
        self.assumptions: dict[str, None] = {}

    def add(self, phase: str, entries: Iterable[Entry], repeats: Number) -> None:
        """Adds calls that run so many times each, beside how often each is there."""
        for entry in entries:
            found = self._estimate(entry.call, self._gpu)
            self.assumptions |= dict.fromkeys(found.assumptions)
            one = _part(phase, entry, found, entry.count * repeats)
            key = (phase, one.part, one.family)
            self.parts[key] = _together(self.parts[key], one) if key in self.parts else one

    def count(self, phase: str, *counts: Number) -> None:
        """Counts iterations, requests in decode and new prompt tokens."""
        iterations, requests, tokens = self.counts.get(phase, (0, 0, 0))
        self.counts[phase] = (iterations + counts[0], requests + counts[1], tokens + counts[2])


def _part(phase: str, entry: Entry, found: Estimate, times: Number) -> Part:
    return Part(
        part=entry.part, phase=phase, family=found.family, kind=_kind(entry), origin=most(found.origin),
        limiter=most(found.limiter), **{name: times * getattr(found, name) for name in _ADDED},
    )  # fmt: skip


def _together(one: Part, other: Part) -> Part:
    """Both parts as one, with the origin and the limiter of the longer."""
    longer = other if np.sum(other.time_s) > np.sum(one.time_s) else one
    return replace(longer, **{name: getattr(one, name) + getattr(other, name) for name in _ADDED})


def _kind(entry: Entry) -> str:
    if isinstance(entry.call, Collective):
        return COLLECTIVES
    return ATTENTION if entry.part in BY_LENGTHS else KERNELS


def _factor(one: Part) -> str:
    """The name of a part's factor."""
    return COLLECTIVES if one.kind == COLLECTIVES else f"{one.phase}_{one.kind}"


def _host(phase: str, time_s: Number) -> Part:
    return Part(
        part=HOST, phase=phase, family=HOST, kind=HOST, time_s=time_s, low_s=0.0 * time_s, high_s=2.0 * time_s,
        floor_s=0.0 * time_s, origin="fitted", limiter=HOST,
    )  # fmt: skip
