"""What it costs that some ranks of a synchronous step are slower than others: all wait for the slowest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..units import format_percent, format_time
from .amounts import all_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """`step_s` is that of the slowest rank, `efficiency` the mean over it, `idle_s` what all ranks wait together.

    `slowest` are the ranks, from 0 on, that take longest.
    """

    times: tuple[float, ...]
    step_s: float
    mean_s: float
    efficiency: float
    idle_s: float
    slowest: tuple[int, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def imbalance(*, times: Sequence[float]) -> Imbalance:
    """The efficiency of a step whose ranks take these times before they wait for each other.

    Raises:
        FieldError: there is no time, or one is not above 0.
    """
    all_positive("times", times)
    step, mean = max(times), sum(times) / len(times)
    slowest = tuple(rank for rank, time in enumerate(times) if time == step)
    return Imbalance(
        times=tuple(times),
        step_s=step,
        mean_s=mean,
        efficiency=mean / step,
        idle_s=len(times) * (step - mean),
        slowest=slowest,
        why=(
            f"all wait for rank {', '.join(map(str, slowest[:8]))}: {format_time(step)}, where the mean is "
            f"{format_time(mean)}, {format_percent(mean / step)} of it",
        ),
        advice=tuple(_advice(times, step, mean)),
    )


def _advice(times: Sequence[float], step: float, mean: float) -> Iterator[str]:
    others = [time for time in times if time < step]
    if not others:
        yield "all ranks take the same time: nothing to gain"
        return
    rest = max(others)
    without = [min(time, rest) for time in times]
    share = format_percent(sum(without) / len(without) / rest)
    yield f"bring the slowest down to the next, {format_time(rest)}: {step / rest:.3g} times faster, efficiency {share}"
    yield f"share the work evenly: {format_time(mean)} a step, {step / mean:.3g} times faster"
