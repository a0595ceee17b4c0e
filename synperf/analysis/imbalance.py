"""How evenly ranks share the work of a step: the mean over the maximum of what they compute in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..light_classes import dataclass
from .steps import Step, Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """One step that all ranks have; `efficiency` is mean_compute_ns / max_compute_ns."""

    step: str
    ranks: int
    mean_compute_ns: float
    max_compute_ns: int
    busiest_rank: int | None
    efficiency: float


def imbalance(ranks: Sequence[Steps]) -> tuple[Imbalance, ...]:
    """The steps that all of two or more ranks have by name, and in which devices compute."""
    if len(ranks) < 2:
        return ()
    by_name = [{step.name: step for step in found.steps} for found in ranks]
    shared = [name for name in by_name[0] if all(name in steps for steps in by_name[1:])]
    groups = [[steps[name] for steps in by_name] for name in shared]
    return tuple(_measured(group) for group in groups if any(step.compute_ns for step in group))


def _measured(group: Sequence[Step]) -> Imbalance:
    busiest = max(group, key=lambda step: step.compute_ns)
    mean = sum(step.compute_ns for step in group) / len(group)
    return Imbalance(
        step=busiest.name, ranks=len(group), mean_compute_ns=mean, max_compute_ns=busiest.compute_ns,
        busiest_rank=busiest.rank, efficiency=mean / busiest.compute_ns,
    )  # fmt: skip
