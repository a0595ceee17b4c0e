"""An evaluation of collectives, as text: errors by kernel, GPU and operation, and what was set aside."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.collectives import MessageReport, MessageScore
from ..units import format_percent
from .text import paragraphs, section, table

_HEADS = ("rows", "median", "mean", "P90", "bias", "covered", "half-width", "NCCL's model, median")
_TITLES = {
    "new-size": "collectives, sizes that nothing was fitted to",
    "ranks-out": "collectives, each number of ranks by curves fitted without it",
}


def to_text(report: MessageReport) -> str:
    """Scores by each label, then the floor and the rows that are not used."""
    tables = [_table(name, scores) for name, scores in report.scores.items() if scores]
    floor = f"measured below the floor: {report.below_floor:,} of {report.rows:,} messages"
    aside = [f"{count:,}: {reason}" for reason, count in report.set_aside.items()]
    return paragraphs(_TITLES[report.split], *tables, floor, section("rows set aside", aside), _LEGEND)


def _table(name: str, scores: Sequence[MessageScore]) -> str:
    return table((name, *_HEADS), [(one.group, *_cells(one)) for one in scores], _HEADS)


def _cells(one: MessageScore) -> tuple[str, ...]:
    e = one.estimate
    errors = [format_percent(value) for value in (e.median, e.mape, e.p90, e.bias)]
    shares = (format_percent(one.coverage), format_percent(one.width), format_percent(one.analytical.median))
    return (f"{one.rows:,}", *errors, *shares)


_LEGEND = (
    "Absolute relative errors; bias above 0 is too slow; covered is the share of measured times inside the interval, "
    "which means to hold 80 %; half-width is the median of half the interval over the estimate. NCCL's model is the "
    "constants of nccl_tuning.toml, fitted to nothing."
)
