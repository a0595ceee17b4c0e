"""An evaluation of static batches, as text: errors by GPU, model and load, others beside them, and every batch."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.e2e.static import ALL, PHASES, StaticReport, StaticRow, StaticScore
from ..units import format_percent, format_time
from .text import paragraphs, section, table

_HEADS = ("rows", *(f"{phase}, {name}" for phase in PHASES for name in ("mean", "median")))


def to_text(report: StaticReport) -> str:
    """Scores by each label for everything that was left out, others, the floor, and what is not used."""
    tables = [
        _table(f"{label}, {left_out}" if label == ALL else label, scores)
        for left_out, by_label in report.scores.items()
        for label, scores in by_label.items()
    ]
    others = _table(f"others, {next(iter(report.scores))}, of the rows that they answer", report.others)
    floor = f"measured below the floor: {report.below_floor} of {len({row.name for row in report.rows})} batches"
    aside = [f"{count:,}: {reason}" for reason, count in report.set_aside.items()]
    whole = section("whole batches", [_whole(row) for row in report.apart])
    title = f"static batches of {report.source}"
    return paragraphs(title, *tables, others, whole, floor, section("rows set aside", aside), _LEGEND)


def _table(name: str, scores: Sequence[StaticScore]) -> str:
    return table((name, *_HEADS), [(one.group, *_cells(one)) for one in scores], _HEADS)


def _cells(one: StaticScore) -> tuple[str, ...]:
    errors = [getattr(one, phase) for phase in PHASES]
    return (str(one.rows), *(format_percent(value) for e in errors for value in (e.mape, e.median)))


def _whole(row: StaticRow) -> str:
    measured, predicted = row.measured_s[0], row.predicted_s[0]
    error = format_percent(predicted / measured - 1)
    return f"{row.name}: {format_time(measured)}, predicted {format_time(predicted)}, {error} off"


_LEGEND = (
    "Absolute relative errors of the prefill, of the median decode step and of the whole batch, against the median of "
    "the repeats after the first. What is out (the configuration alone, all of its GPU, or of its twins too) was seen "
    "by no fit of factors or of what boards sustain; kernels and messages are predicted by weights and curves that saw "
    "no model run. Others: what the source published of its model and of NeuSight; a roofline; a line over its two "
    "bounds, fitted without what is out; the same load on the nearest GPU, scaled by the bounds."
)
