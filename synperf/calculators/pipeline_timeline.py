"""When each pass of a pipeline runs: in the order of its stage, once what it needs is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .pipeline_schedules import BACKWARD, FORWARD, SPLIT, WEIGHTS, Pass, orders


class Span(NamedTuple):
    """From when to when a pass runs on its stage."""

    done: Pass
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The passes of each stage in their order. `step_s` is the longest time from the first to the last of a stage."""

    lanes: tuple[tuple[Span, ...], ...]

    @property
    def step_s(self) -> float:
        """Stages need not wait for each other before their next step."""
        return max(lane[-1].end_s - lane[0].start_s for lane in self.lanes)

    @property
    def bubble_of_ideal(self) -> float:
        """Idle over busy time, of all stages: 0 where rounding leaves less."""
        busy = sum(span.end_s - span.start_s for lane in self.lanes for span in lane)
        return max(0.0, len(self.lanes) * self.step_s / busy - 1)


def timeline(
    schedule: str,
    microbatches: int,
    forward_s: Sequence[float],
    backward_s: Sequence[float],
    chunks: int = 1,
    transfer_s: float = 0.0,
) -> Timeline:
    """The passes of a step; the times are those of each stage for a micro-batch, `transfer_s` that between two stages.

    Raises:
        FieldError: the numbers do not go with the schedule.
    """
    stages = len(forward_s)
    todo = orders(schedule, stages, microbatches, chunks)
    parts = 2 if schedule in SPLIT else 1
    lasting = [
        {FORWARD: ahead / chunks, BACKWARD: back / parts / chunks, WEIGHTS: back / parts / chunks}
        for ahead, back in zip(forward_s, backward_s, strict=True)
    ]
    return Timeline(_run(todo, lasting, chunks, transfer_s))


def _run(
    todo: Sequence[Sequence[Pass]], lasting: Sequence[dict[str, float]], chunks: int, transfer_s: float
) -> tuple[tuple[Span, ...], ...]:
    """Each stage in turn goes on until it has to wait for another."""
    stages = len(todo)
    ends: dict[tuple[int, Pass], float] = {}
    lanes: list[list[Span]] = [[] for _ in todo]
    while any(len(lane) < len(passes) for lane, passes in zip(lanes, todo, strict=True)):
        before = len(ends)
        for stage, passes in enumerate(todo):
            lane = lanes[stage]
            while len(lane) < len(passes):
                one = passes[len(lane)]
                needed = _needed(stage, one, stages, chunks)
                if needed is not None and needed not in ends:
                    break
                moved = transfer_s if needed is not None and needed[0] != stage else 0.0
                ready = 0.0 if needed is None else ends[needed] + moved
                start = max(ready, lane[-1].end_s if lane else 0.0)
                ends[stage, one] = start + lasting[stage][one.kind]
                lane.append(Span(one, start, ends[stage, one]))
        assert len(ends) > before  # no schedule waits for itself
    return tuple(map(tuple, lanes))


def _needed(stage: int, one: Pass, stages: int, chunks: int) -> tuple[int, Pass] | None:
    """What a pass waits for: the layers before it, or of backward passes those after it."""
    kind, chunk, microbatch = one
    if kind == WEIGHTS:
        return stage, Pass(BACKWARD, chunk, microbatch)
    if kind == FORWARD:
        if stage:
            return stage - 1, one
        return (stages - 1, Pass(FORWARD, chunk - 1, microbatch)) if chunk else None
    if stage < stages - 1:
        return stage + 1, one
    return (
        (0, Pass(BACKWARD, chunk + 1, microbatch)) if chunk < chunks - 1 else (stage, Pass(FORWARD, chunk, microbatch))
    )
