"""An evaluation of eager passes of PyTorch, as text: errors by mode, GPU and model, and what was set aside."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.e2e.eager import EagerReport, EagerScore
from ..units import format_percent
from .text import paragraphs, section, table

_HEADS = ("rows", "mean", "median", "P90", "bias", "NeuSight's, mean", "median of these")


def to_text(report: EagerReport) -> str:
    """Scores by each label, then the floor and the rows that are not used."""
    tables = [_table(name, scores) for name, scores in report.scores.items()]
    floor = f"measured below the floor: {report.below_floor} of {report.rows} passes"
    aside = [f"{count:,}: {reason}" for reason, count in report.set_aside.items()]
    return paragraphs(f"fp32 passes of {report.source}", *tables, floor, section("rows set aside", aside), _LEGEND)


def _table(name: str, scores: Sequence[EagerScore]) -> str:
    return table((name, *_HEADS), [(one.group, *_cells(one)) for one in scores], _HEADS)


def _cells(one: EagerScore) -> tuple[str, ...]:
    e, other = one.estimate, one.published
    errors = [format_percent(value) for value in (e.mape, e.median, e.p90, e.bias)]
    beside = [format_percent(value) for value in (other.mape, other.median)] if other else ["", ""]
    return (str(one.rows), *errors, *beside)


_LEGEND = (
    "Absolute relative errors of whole passes; bias above 0 is too slow. Nothing was fitted to a pass: operators are "
    "predicted by weights of NeuSight's operators where these know the GPU, else by the analytical estimate."
)
