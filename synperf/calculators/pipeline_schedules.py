"""The order in which each stage of a pipeline does its passes, by schedule.

Sources: Y. Huang et al., "GPipe", NeurIPS 2019; D. Narayanan et al., "Efficient Large-Scale Language Model Training on
GPU Clusters Using Megatron-LM", SC 2021 (1F1B, interleaved); P. Qi et al., "Zero Bubble Pipeline Parallelism", ICLR
2024.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from ..errors import FieldError, UnknownNameError

GPIPE, ONE_F_ONE_B, INTERLEAVED = "gpipe", "1f1b", "interleaved"
ZERO_BUBBLE, ZERO_BUBBLE_H2 = "zero-bubble", "zero-bubble-h2"
SPLIT = (ZERO_BUBBLE, ZERO_BUBBLE_H2)  # whose backward passes are two: of inputs and of weights
FORWARD, BACKWARD, WEIGHTS = "forward", "backward", "weights"


class Pass(NamedTuple):
    """A pass of one chunk of a stage over one micro-batch; without a split, BACKWARD is all of the backward pass."""

    kind: str
    chunk: int
    microbatch: int


def orders(schedule: str, stages: int, microbatches: int, chunks: int) -> tuple[tuple[Pass, ...], ...]:
    """The passes of each stage in their order.

    Raises:
        FieldError: there is no such schedule, or the numbers do not go with it.
    """
    check(schedule, stages, microbatches, chunks)
    return tuple(tuple(_SCHEDULES[schedule](stage, stages, microbatches, chunks)) for stage in range(stages))


def most_in_flight(schedule: str, stages: int, microbatches: int, chunks: int) -> tuple[float, ...]:
    """Micro-batches whose activations each stage holds at most at once; a chunk holds its part of one.

    Raises:
        FieldError: the numbers do not go with the schedule.
    """
    leaves = WEIGHTS if schedule in SPLIT else BACKWARD
    found = orders(schedule, stages, microbatches, chunks)
    return tuple(max(accumulate(_held(one.kind, leaves) for one in passes)) / chunks for passes in found)


def _held(kind: str, leaves: str) -> int:
    return 1 if kind == FORWARD else -(kind == leaves)


def check(schedule: str, stages: int, microbatches: int, chunks: int) -> None:
    """Checks that there is such a schedule of these numbers.

    Raises:
        FieldError: there is no such schedule, or the numbers do not go with it.
    """
    if schedule not in _SCHEDULES:
        raise FieldError(f"schedule: {UnknownNameError.among('schedule', schedule[:40], _SCHEDULES)}")
    if schedule != INTERLEAVED and chunks != 1:
        raise FieldError(f"chunks must be 1 for {schedule}, got {chunks}; right would be --schedule {INTERLEAVED}")
    if schedule == INTERLEAVED and microbatches % stages:
        raise FieldError(
            f"microbatches must be a multiple of stages for {INTERLEAVED}, got {microbatches} and {stages}"
        )


def names() -> tuple[str, ...]:
    """Every schedule."""
    return tuple(_SCHEDULES)


def _gpipe(stage: int, stages: int, microbatches: int, chunks: int) -> Iterator[Pass]:  # noqa: ARG001
    yield from (Pass(FORWARD, 0, one) for one in range(microbatches))
    yield from (Pass(BACKWARD, 0, one) for one in range(microbatches))


def _one_f_one_b(stage: int, stages: int, microbatches: int, chunks: int) -> Iterator[Pass]:  # noqa: ARG001
    return _alternating(microbatches, warm=stages - stage, behind=None)


def _zero_bubble(stage: int, stages: int, microbatches: int, chunks: int) -> Iterator[Pass]:  # noqa: ARG001
    return _alternating(microbatches, warm=stages - stage, behind=stage)


def _zero_bubble_h2(stage: int, stages: int, microbatches: int, chunks: int) -> Iterator[Pass]:  # noqa: ARG001
    return _alternating(microbatches, warm=2 * (stages - stage) - 1, behind=2 * stage)


def _alternating(microbatches: int, *, warm: int, behind: int | None) -> Iterator[Pass]:
    """`warm` forward passes, then backward and forward in turn; those of weights so many `behind`, if split off."""
    begun, weighed = min(warm, microbatches), 0
    yield from (Pass(FORWARD, 0, one) for one in range(begun))
    for one in range(microbatches):
        yield Pass(BACKWARD, 0, one)
        if behind is not None and one >= behind:
            yield Pass(WEIGHTS, 0, weighed)
            weighed += 1
        if begun < microbatches:
            yield Pass(FORWARD, 0, begun)
            begun += 1
    if behind is not None:
        yield from (Pass(WEIGHTS, 0, one) for one in range(weighed, microbatches))


def _interleaved(stage: int, stages: int, microbatches: int, chunks: int) -> Iterator[Pass]:
    """As many micro-batches as there are stages go through a chunk before the next chunk has its turn."""
    total = microbatches * chunks
    warm = total if microbatches == stages else min(total, 2 * (stages - stage - 1) + (chunks - 1) * stages)
    yield from (_turn(FORWARD, at, stages, chunks) for at in range(warm))
    for at in range(total):
        if warm + at < total:
            yield _turn(FORWARD, warm + at, stages, chunks)
        yield _turn(BACKWARD, at, stages, chunks)


def _turn(kind: str, at: int, stages: int, chunks: int) -> Pass:
    group, within = divmod(at, stages * chunks)
    chunk, microbatch = divmod(within, stages)
    return Pass(kind, chunk if kind == FORWARD else chunks - 1 - chunk, group * stages + microbatch)


_SCHEDULES: Mapping[str, Callable[[int, int, int, int], Iterator[Pass]]] = {
    GPIPE: _gpipe,
    ONE_F_ONE_B: _one_f_one_b,
    INTERLEAVED: _interleaved,
    ZERO_BUBBLE: _zero_bubble,
    ZERO_BUBBLE_H2: _zero_bubble_h2,
}
