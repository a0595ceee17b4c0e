"""An evaluation report, as text: errors per GPU and format beside those of the plain roofline, and the intervals."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation import Report, Score
from ..evaluation.predictions import MEASURED
from ..evaluation.regimes import LEAST_ROWS, MEANT, Regime
from ..units import counted, format_percent
from .text import paragraphs, section, table

_HEADS = ("rows", "mean", "median", "P90", "wMAPE", "bias", "covered", "half-width", "below floor", "roofline mean")
_TITLES = {"all": "all rows", "test": "test rows"}
_SHOWN = 20  # regimes; more are in the JSON


def to_text(report: Report) -> str:
    """All rows, then the test rows of the published split."""
    head = f"{report.origin} estimate of {report.family}, synperf {report.version}, on {report.source}"
    said = _TABLES if report.origin == MEASURED else ""
    return paragraphs(head, *(_split(report, split) for split in _TITLES), _LEGEND, said)


def _split(report: Report, split: str) -> str:
    totals = report.totals(split)
    if not totals:
        return ""
    title = _TITLES[split]
    by_dtype = [(s.dtype, *_cells(s)) for s in report.by_dtype(split)]
    return paragraphs(
        f"{title}\n{_table('gpu', [(s.gpu, *_cells(s)) for s in totals])}",
        f"{title}, by format\n{_table('format', by_dtype)}" if len(by_dtype) > 1 else "",
        _regimes(report, split),
    )


def _table(first: str, rows: Sequence[Sequence[str]]) -> str:
    return table((first, *_HEADS), rows, _HEADS)


def _cells(score: Score) -> tuple[str, ...]:
    e = score.estimate
    errors = [format_percent(value) for value in (e.mape, e.median, e.p90, e.wmape, e.bias)]
    over = f" ({score.width_over_median:.1f}x)" if score.width_over_median is not None else ""
    shares = (format_percent(score.coverage), format_percent(score.width) + over, format_percent(score.below_floor))
    return (f"{score.rows:,}", *errors, *shares, format_percent(score.roofline.mape))


def _regimes(report: Report, split: str) -> str:
    """Every regime, and the cells whose intervals hold too few or too many."""
    return paragraphs(
        _held(report.regimes_of(split), "regimes", True), _held(report.regimes_of(split, cells=True), "cells", False)
    )


def _held(found: Sequence[Regime], kind: str, in_full: bool) -> str:
    if not found:
        return ""
    wrong = [r for r in found if not r.is_as_meant]
    low, high, least, most = map(format_percent, (*MEANT, found[0].coverage, found[-1].coverage))
    head = (
        f"{len(found)} {kind} of {LEAST_ROWS:,} rows or more: intervals hold {least} to {most}; "
        f"outside {low} to {high}: {len(wrong)}"
    )
    lines = [
        f"{r.name}: {_share(r)} of {r.rows:,} rows of {counted(r.shapes, 'shape')}"
        for r in (found if in_full else wrong)
    ]
    half = _SHOWN // 2
    return section(head, lines if len(lines) <= _SHOWN else [*lines[:half], "... (all are in --json)", *lines[-half:]])


def _share(r: Regime) -> str:
    """`83.3 % +- 3`: what other shapes would give is within twice that in 19 of 20 cases."""
    error = "" if r.coverage_error is None else f" +- {100 * r.coverage_error:.2g}"
    return f"{format_percent(r.coverage)}{error}"


_LEGEND = (
    "Absolute relative errors; wMAPE weighs a row by its time; bias above 0 is too slow; covered is the share of "
    "measured times inside the interval, which means to hold 80 %; half-width is the median of half the interval "
    "over the estimate, and over the median error in brackets; below floor should be 0. A regime is a format and a "
    "band of estimated times; a cell is that of one GPU, engine and kernel; +- is the standard error over shapes."
)
_TABLES = "The measured tables are without test rows here, so look at the test rows: all others stand in the tables."
