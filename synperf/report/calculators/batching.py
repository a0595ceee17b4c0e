"""Batch sizes, their throughput and latency, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.batching import Batch, Batching
from ...units import format_percent, format_time
from ..charts import lines
from ..text import number, paragraphs, section, table

_HEADS = ("batch", "takes", "throughput/s", "busy", "rate/s", "forming", "queue", "latency", "")
_OVERLOAD = "overload"


def to_dict(found: Batching) -> dict[str, Any]:
    """Every field; those of the best size, or of the only one, also by themselves."""
    shown = found.best or (found.batches[0] if len(found.batches) == 1 else None)
    alone = {} if shown is None else _known(shown)
    return {**alone, **{name: value for name, value in asdict(found).items() if value is not None}}


def to_text(found: Batching) -> str:
    """A row for each size; the best is marked."""
    best = "no size is within the limit" if found.best is None else f"best: batches of {found.best.batch}"
    rows = [_row(one, one is found.best) for one in found.batches]
    return paragraphs(
        best, table(_HEADS, rows, _HEADS[:-1]), section("why", found.why), section("advice", found.advice)
    )


def to_svg(found: Batching) -> str:
    """Throughput over the size of a batch."""
    ordered = sorted(found.batches, key=lambda one: one.batch)
    curve = lines.Curve("throughput", [b.batch for b in ordered], [b.throughput_per_s for b in ordered])
    marks = [lines.Mark(f"{b.batch}: {_latency(b)}", b.batch, b.throughput_per_s) for b in ordered]
    return lines.draw(
        lines.Chart(
            title="Throughput and latency of a batch",
            x=lines.Axis("requests of a batch"),
            y=lines.Axis("requests a second"),
            curves=(curve,),
            marks=marks,
            words=found.why,
        )
    )


def _latency(one: Batch) -> str:
    return _OVERLOAD if one.overloaded else format_time(one.latency_s or one.batch_s)


def _known(one: Batch) -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if value is not None}


def _row(one: Batch, is_best: bool) -> tuple[str, ...]:
    times = ("" if value is None else format_time(value) for value in (one.forming_s, one.queue_s, one.latency_s))
    rates = (number(one.throughput_per_s), format_percent(one.busy), number(one.rate_per_s))
    word = "best" if is_best else _OVERLOAD if one.overloaded else ""
    return (str(one.batch), format_time(one.batch_s), *rates, *times, word)
