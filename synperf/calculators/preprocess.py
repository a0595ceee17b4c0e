"""Whether what prepares the inputs keeps a GPU busy: the slowest stage of a pipeline, and workers that would do.

A stage of `workers` that take `latency_s` for an item each lets `workers / latency_s` items through a second; stages
that overlap let through what the slowest does, stages one after another the inverse of the sum of their times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from ..errors import FieldError
from ..units import format_percent, format_time
from .amounts import extent, number, positive

_SLACK = 1e-9  # 1000 / s times 8 ms are eight workers, not nine


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: seconds of one item on one worker, and how many work side by side."""

    name: str
    latency_s: float
    workers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRate:
    """`effective_s` is the mean time of an item, some of which come from a cache; `workers_needed` feed the GPU."""

    name: str
    effective_s: float
    workers: int
    items_per_s: float
    workers_needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocess:
    """`items_per_s` is what reaches the GPU with all stages side by side, `serial_items_per_s` one after another."""

    gpu_items_per_s: float
    stages: tuple[StageRate, ...]
    items_per_s: float
    serial_items_per_s: float
    gpu_busy: float
    bottleneck: str
    why: tuple[str, ...]
    advice: tuple[str, ...]


def preprocess(stages: Sequence[Stage], *, rate_per_s: float, cache_hits: float = 0.0) -> Preprocess:
    """How much of `rate_per_s`, the items that the GPU could take a second, these stages bring to it.

    `cache_hits` is the share of items whose stages need not run, as their results are kept.

    Raises:
        FieldError: no stage, two of one name, a time or rate that is not above 0, a share outside 0 to 1.
    """
    if not stages:
        raise FieldError("stages must be at least one, got none")
    if len({stage.name for stage in stages}) < len(stages):
        raise FieldError("stages: two have the same name; right would be one name for each")
    positive(rate_per_s=rate_per_s)
    if not 0 <= number("cache_hits", cache_hits) < 1:
        raise FieldError(f"cache_hits must be from 0 to less than 1, got {cache_hits:g}")
    rate = float(rate_per_s)
    rates = tuple(_rate(stage, rate, 1 - cache_hits) for stage in stages)
    slowest = min(rates, key=lambda one: one.items_per_s)
    reached = min(rate, slowest.items_per_s)
    serial = 1 / (sum(one.effective_s / one.workers for one in rates) + 1 / rate)
    is_fed = slowest.items_per_s >= rate * (1 - _SLACK)
    return Preprocess(
        gpu_items_per_s=rate,
        stages=rates,
        items_per_s=reached,
        serial_items_per_s=serial,
        gpu_busy=reached / rate,
        bottleneck="gpu" if is_fed else slowest.name,
        why=_why(rate, slowest, reached, serial, is_fed),
        advice=_advice(rate, rates, is_fed),
    )


def _rate(stage: Stage, rate: float, miss: float) -> StageRate:
    workers = extent(f"workers of {stage.name}", stage.workers)
    positive(**{f"latency_s of {stage.name}": stage.latency_s})
    effective = stage.latency_s * miss
    return StageRate(
        name=stage.name,
        effective_s=effective,
        workers=workers,
        items_per_s=workers / effective,
        workers_needed=max(1, ceil(rate * effective - _SLACK)),
    )


def _why(rate: float, slowest: StageRate, reached: float, serial: float, is_fed: bool) -> tuple[str, ...]:
    feeds = f"{slowest.workers} x 1 / {format_time(slowest.effective_s)} = {slowest.items_per_s:,.4g} items/s"
    first = (
        f"the slowest stage, {slowest.name}, lets {feeds} through, and the GPU takes {rate:,.4g}: it is fed"
        if is_fed
        else f"{slowest.name} lets {feeds} through, and the GPU could take {rate:,.4g}: it idles "
        f"{format_percent(1 - reached / rate)} of the time"
    )
    return first, f"one after another, without overlap, {serial:,.4g} items/s reach the end"


def _advice(rate: float, rates: Sequence[StageRate], is_fed: bool) -> tuple[str, ...]:
    short = [one for one in rates if one.workers < one.workers_needed]
    if is_fed or not short:
        return ("more workers would wait for the GPU",)
    said = [
        f"{one.name}: {one.workers_needed} workers instead of {one.workers} feed {rate:,.4g} items/s" for one in short
    ]
    slowest = max(short, key=lambda one: one.effective_s / one.workers)
    enough = slowest.workers / rate
    return (
        *said,
        f"or a {slowest.name} of {format_time(enough)} an item, such as a decoder in hardware or on the GPU (a JPEG "
        "takes 0.5 to 1 ms there, 5 to 10 ms on a thread of the CPU), or fused transforms, which touch an item "
        "once",
        f"or a cache that {format_percent(1 - enough / slowest.effective_s)} of the items are found in",
    )
