"""An evaluation report, as text: errors per GPU beside those of the plain roofline."""

from __future__ import annotations

from ..evaluation import Report, Score
from ..units import format_percent
from .text import paragraphs, table

_HEADS = ("gpu", "rows", "mean", "median", "P90", "wMAPE", "bias", "covered", "below floor", "roofline mean")


def to_text(report: Report) -> str:
    """All rows, then the test rows of the published split."""
    head = f"{report.origin} estimate of {report.family}, synperf {report.version}, on {report.source}"
    return paragraphs(head, _split(report, "all", "all rows"), _split(report, "test", "test rows"), _LEGEND)


def _split(report: Report, split: str, title: str) -> str:
    scores = report.totals(split)
    return f"{title}\n{table(_HEADS, [_cells(score) for score in scores], _HEADS[1:])}" if scores else ""


def _cells(score: Score) -> tuple[str, ...]:
    e = score.estimate
    errors = [format_percent(value) for value in (e.mape, e.median, e.p90, e.wmape, e.bias)]
    shares = [format_percent(value) for value in (score.coverage, score.below_floor)]
    return (score.gpu, f"{score.rows:,}", *errors, *shares, format_percent(score.roofline.mape))


_LEGEND = (
    "Absolute relative errors; wMAPE weighs a row by its time; bias above 0 is too slow; covered is the share of "
    "measured times inside the interval, which means to hold 80 %; below floor should be 0."
)
