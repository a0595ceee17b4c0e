"""How much of a step a pipeline of stages idles, what each stage holds, and which layers it should have.

Sources: as in `pipeline_schedules.py` and `pipeline_partition.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .pipeline_partition import Partition
from .pipeline_setup import Setup
from .pipeline_timeline import Timeline
from .pipeline_words import advice, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """`bubble_of_total` is the idle share of all stages' step, `bubble_of_ideal` idle over busy time.

    `textbook_bubble`, stages over micro-batches, is what textbooks print. `step` is in units of a forward pass, or
    seconds where its time is given. `in_flight` are micro-batches that each stage holds at most. With layers,
    `partition` is that of the step, `best_partition` the best one where another was given.
    """

    setup: Setup
    bubble_of_total: float
    bubble_of_ideal: float
    textbook_bubble: float
    step: float
    in_flight: tuple[float, ...]
    partition: Partition | None
    best_partition: Partition | None
    timeline: Timeline
    why: tuple[str, ...]
    advice: tuple[str, ...]


def pipeline(setup: Setup) -> Pipeline:
    """The step of a pipeline.

    Raises:
        FieldError: the layers are fewer than the stages, or the split is not of them.
    """
    parts = setup.partition(setup.split)
    best = setup.partition(None) if setup.split is not None else None
    found = setup.timeline(parts)
    ideal = found.bubble_of_ideal
    in_flight = setup.in_flight
    return Pipeline(
        setup=setup,
        bubble_of_total=ideal / (1 + ideal),
        bubble_of_ideal=ideal,
        textbook_bubble=setup.stages / setup.microbatches,
        step=found.step_s,
        in_flight=in_flight,
        partition=parts,
        best_partition=best,
        timeline=found,
        why=tuple(why(setup, found, parts)),
        advice=tuple(advice(setup, found, parts, best)),
    )
