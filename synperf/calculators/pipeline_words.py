"""Why a pipeline idles as much as it does, and what would make it idle less, each computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..errors import FieldError
from ..units import counted, format_percent, format_quantity
from .pipeline_partition import Partition
from .pipeline_schedules import GPIPE, INTERLEAVED, ONE_F_ONE_B, ZERO_BUBBLE, ZERO_BUBBLE_H2
from .pipeline_setup import Setup
from .pipeline_timeline import Timeline

_PLENTY = 4  # micro-batches for each stage, from which on a bubble is small
_LARGER = (2, 4, 8)  # times as many stages, to try


def why(setup: Setup, found: Timeline, parts: Partition | None) -> Iterator[str]:
    """The bubble by its formula, beside that of textbooks; what stages hold; and the layers."""
    ideal, said = found.bubble_of_ideal, _FORMULAS[setup.schedule](setup)
    yield (
        f"{counted(setup.stages, 'stage')}, {setup.microbatches} micro-batches: {said}; idle over busy time is "
        f"{_percent(ideal)}, of all time {_percent(ideal / (1 + ideal))}"
    )
    yield (
        f"the p/m = {_percent(setup.stages / setup.microbatches)} of textbooks is (p-1)/m of the ideal time for many "
        "stages, and no share of the whole"
    )
    held = setup.in_flight
    yield f"micro-batches whose activations a stage holds at once: {held[0]:g} on the first, {held[-1]:g} on the last"
    if parts is not None and setup.layers is not None:
        yield (
            f"the slowest stage has {max(parts.costs):g}, the mean is {sum(parts.costs) / len(parts.costs):g}: "
            f"{_percent(parts.balance)} balance"
        )
        if setup.layers.embedding_cost or setup.layers.head_cost:
            yield "the embedding is on the first stage, the head on the last: these have fewer layers for it"


def advice(setup: Setup, found: Timeline, parts: Partition | None, best: Partition | None) -> Iterator[str]:
    """A better split, enough memory, more micro-batches, another schedule."""
    if parts is not None and best is not None and max(best.costs) < max(parts.costs) * (1 - 1e-9):
        step = setup.timeline(best).step_s
        yield f"layers {_listed(best.layers)}: {found.step_s / step:.3g} times faster, balance {_percent(best.balance)}"
    if parts is not None and parts.fits is False:
        yield _fitting(setup)
    if setup.stages == 1:
        yield "a single stage has no bubble"
    more = _with_microbatches(setup, max(_PLENTY * setup.stages, 2 * setup.microbatches))
    if more is not None and setup.stages > 1:
        yield f"{more.microbatches} micro-batches: {_bubble(more)}"
    yield from _schedules(setup, found)


def _with_microbatches(setup: Setup, microbatches: int) -> Setup | None:
    """The setup with so many micro-batches, unless these are too many to follow."""
    try:
        return replace(setup, microbatches=microbatches)
    except FieldError:
        return None


def _schedules(setup: Setup, found: Timeline) -> Iterator[str]:
    """Schedules that idle less with the same micro-batches."""
    for name in (ONE_F_ONE_B, INTERLEAVED, ZERO_BUBBLE, ZERO_BUBBLE_H2):
        chunks = max(2, setup.chunks) if name == INTERLEAVED else 1
        try:
            other = replace(setup, schedule=name, chunks=chunks)
        except FieldError:
            continue
        saves = other.timeline(other.partition(setup.split)).step_s < found.step_s * (1 - 1e-9)
        holds = max(other.in_flight) < max(setup.in_flight)
        if saves or (setup.schedule == GPIPE and name == ONE_F_ONE_B and holds):
            yield f"{name}{f' with {chunks} chunks' if chunks > 1 else ''}: {_bubble(other)}"


def _bubble(setup: Setup) -> str:
    ideal = setup.timeline(setup.partition(setup.split)).bubble_of_ideal
    return (
        f"{_percent(ideal / (1 + ideal))} of all time is bubble, with {max(setup.in_flight):g} micro-batches in flight"
    )


def _fitting(setup: Setup) -> str:
    """The first number of stages, of some, whose best partition fits."""
    for times in _LARGER:
        try:
            wider = replace(setup, stages=times * setup.stages, split=None)
            parts = wider.partition(None)
        except FieldError:
            break
        if parts is not None and parts.fits:
            return f"{wider.stages} stages fit: at most {format_quantity(max(parts.bytes), 'B')} on each"
    return "it does not fit: share states by ZeRO, or layers by tensor parallelism; see synperf training-memory"


def _of_one_f_one_b(setup: Setup) -> str:
    return f"(p-1)/(m+p-1) = {setup.stages - 1}/{setup.microbatches + setup.stages - 1} of equal stages"


def _of_interleaved(setup: Setup) -> str:
    return f"(p-1)/(v m) = {setup.stages - 1}/{setup.chunks * setup.microbatches} of the ideal of equal stages"


def _of_zero_bubble(setup: Setup) -> str:
    return f"equal stages idle (p-1)(F+B-W), {setup.stages - 1} times forward and backward less that of weights"


def _of_zero_bubble_h2(setup: Setup) -> str:
    return f"equal stages idle (p-1)(F+B-2W), nothing from 2p-1 = {2 * setup.stages - 1} micro-batches on if F = B = W"


_FORMULAS: dict[str, Callable[[Setup], str]] = {
    GPIPE: _of_one_f_one_b,
    ONE_F_ONE_B: _of_one_f_one_b,
    INTERLEAVED: _of_interleaved,
    ZERO_BUBBLE: _of_zero_bubble,
    ZERO_BUBBLE_H2: _of_zero_bubble_h2,
}


def _percent(share: float) -> str:
    return format_percent(share, 4)


def _listed(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))
