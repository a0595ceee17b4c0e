"""Mean errors by GPU as a drawing: a group of bars for each GPU or case, a colour for each recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from ..evaluation import Comparison, Report
from ..evaluation.splits import ALL
from ..units import format_percent
from . import svg
from .charts.frame import colour

BAR, GAP, LEFT, WIDTH, TOP, LINE = 12.0, 14.0, 190.0, 720.0, 60.0, 16.0
Bars = Mapping[str, Sequence[float]]  # label of a group -> one ratio for each series


def of_comparison(found: Comparison) -> str:
    """Mean errors on every GPU, one bar for each recipe and variant."""
    means = found.means()
    gpus = sorted({r.gpu for r in found.results if r.part == found.part()} - {ALL})
    bars = {
        gpu: [fmean(r.errors.mape for r in found.of(mean.recipe, mean.variant, gpu=gpu)) for mean in means]
        for gpu in gpus
    }
    names = [f"{mean.recipe}, {mean.variant}" if mean.variant else mean.recipe for mean in means]
    return drawing(f"{found.settings.family}, split {found.settings.split}: mean error", names, bars)


def of_report(report: Report) -> str:
    """Mean errors on every GPU, of the estimate and of the plain roofline; test rows where there are any."""
    totals = report.totals("test") or report.totals()
    bars = {s.gpu: [s.estimate.mape, s.roofline.mape] for s in totals}
    said = "new shapes" if totals[0].split == "test" else "all rows"
    return drawing(f"{report.family}, {said}: mean error", [f"{report.origin} estimate", "roofline"], bars)


def drawing(title: str, series: Sequence[str], bars: Bars) -> str:
    """Horizontal bars with their values beside them; the axis begins at 0 and ends at the greatest."""
    most = max((value for values in bars.values() for value in values), default=1.0) or 1.0
    top = TOP + LINE * len(series)
    height = top + len(bars) * (BAR * len(series) + GAP) + GAP
    parts = [svg.text(16, 28, title, size=16, bold=True), *_legend(series), *_groups(bars, top, most)]
    return svg.document(WIDTH, height, title, parts)


def _legend(series: Sequence[str]) -> Iterator[str]:
    for place, name in enumerate(series):
        y = TOP - 12 + LINE * place
        yield svg.rect(16, y - 9, 10, 10, colour(place))
        yield svg.text(32, y, name)


def _groups(bars: Bars, top: float, most: float) -> Iterator[str]:
    scale = (WIDTH - LEFT - 70) / most
    for at, (label, values) in enumerate(bars.items()):
        y = top + at * (BAR * len(values) + GAP)
        yield svg.text(LEFT - 8, y + BAR * len(values) / 2 + 4, label, anchor="end")
        for place, value in enumerate(values):
            yield svg.rect(LEFT, y + BAR * place, value * scale, BAR - 2, colour(place))
            yield svg.text(LEFT + value * scale + 4, y + BAR * place + 9, format_percent(value), size=10)
