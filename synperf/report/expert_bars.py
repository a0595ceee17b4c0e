"""Drawing of an expert layer: rows of each expert of the busiest rank with its padding, and the ranks side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from ..kernels.one_by_one import Experts
from ..light_classes import dataclass
from . import axis, panels, svg
from .panels import BUSY, LEFT, MEAN, MEAN_DASH, PLOT, TOP, Key
from .pipe_bars import Times
from .routing import Routing
from .text import counted

_TALL, _SHORT = 210.0, 90.0  # heights of the bars of experts, and of ranks
_AXIS, _BETWEEN = 44.0, 82.0  # below bars, and from the experts' to the ranks'
_MOST_BARS = 247  # of two pixels
_WIDEST = 48.0
_ROWS, _PADDING, _RANK = "#2f6fae", "#f2b263", "#8fa9bf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Rows by expert and by rank, what `explain` says of them, and in a sentence where they come from."""

    experts: Experts
    routing: Routing
    source: str


def render(layer: Layer, times: Times, heading: str, call: str) -> str:
    """The drawing as an SVG document."""
    r, bottom, sides = layer.routing, TOP + _TALL, [_experts(layer)]
    if r.num_ranks > 1:
        sides.append(_ranks(layer, bottom + _BETWEEN))
        bottom += _BETWEEN + _SHORT
    of_rank = " of the busiest rank" if r.num_ranks > 1 else ""
    frame = panels.Frame(
        heading=heading,
        call=call,
        title=f"{counted(r.experts, r.noun)}{of_rank}, most rows first",
        times=times,
        legend=tuple(_keys(layer)),
        words=tuple(_words(layer)),
    )
    return panels.render(frame, chain(*sides), bottom + _AXIS)


def _experts(layer: Layer) -> Iterator[str]:
    """A bar for the rows of each expert and one on top for its padding; the mean of those that have any."""
    rows, padded = layer.experts.rows, layer.experts.padded
    bars = _Bars.of(rows, float(padded.max()), TOP, _TALL)
    yield from _scale(bars, 5)
    for x, row, whole in zip(bars.edges(), bars.each(rows), bars.each(padded), strict=True):
        yield bars.bar(x, 0.0, row, _ROWS)
        yield bars.bar(x, row, whole, _PADDING)
    yield bars.mean(layer.routing.mean)
    yield from _below(bars, layer.routing.noun)


def _ranks(layer: Layer, top: float) -> Iterator[str]:
    """A bar for the rows of each rank, the busiest in red; the mean of all."""
    ranks = layer.experts.ranks
    bars = _Bars.of(ranks, float(ranks[0]), top, _SHORT)
    yield svg.text(panels.MARGIN, top - 14, f"{len(ranks):,} ranks, most rows first", size=13, bold=True)
    yield from _scale(bars, 2)
    for at, (x, rows) in enumerate(zip(bars.edges(), bars.each(ranks), strict=True)):
        yield bars.bar(x, 0.0, rows, BUSY if at == 0 else _RANK)
    yield bars.mean(float(ranks.mean()))
    yield from _below(bars, "rank")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bars:
    """Bars of equal width from the left; where they are too many, each is the mean of `together` neighbours."""

    count: int
    together: int
    width: float
    top: float
    height: float
    most: float

    @classmethod
    def of(cls, values: np.ndarray, most: float, top: float, height: float) -> _Bars:
        together = -(-len(values) // _MOST_BARS)
        count = -(-len(values) // together)
        return cls(
            count=count, together=together, width=min(PLOT / count, _WIDEST), top=top, height=height, most=most
        )  # fmt: skip

    @property
    def bottom(self) -> float:
        """Where 0 is."""
        return self.top + self.height

    def y(self, rows: float) -> float:
        """Where so many rows end."""
        return self.bottom - self.height * rows / self.most

    def edges(self) -> list[float]:
        """Left edges."""
        return [LEFT + at * self.width for at in range(self.count)]

    def each(self, values: np.ndarray) -> list[float]:
        """The value of each bar."""
        return [float(values[at : at + self.together].mean()) for at in range(0, len(values), self.together)]

    def bar(self, x: float, low: float, high: float, colour: str) -> str:
        """A bar from `low` to `high`."""
        width = self.width - min(1.0, self.width / 4)
        return svg.rect(x, self.y(high), width, self.y(low) - self.y(high), colour)

    def mean(self, rows: float) -> str:
        """A dashed line across."""
        y = self.y(rows)
        return svg.line(LEFT, y, LEFT + PLOT, y, MEAN, stroke_dasharray=MEAN_DASH)


def _scale(bars: _Bars, count: int) -> Iterator[str]:
    """Rows at the left, with a thin line across for each number."""
    for rows in axis.ticks(bars.most, count, least=1.0):
        yield svg.rect(LEFT, bars.y(rows), PLOT, 0.5, "#d0d0d0")
        yield svg.text(LEFT - 8, bars.y(rows) + 4, axis.label(rows), size=11, anchor="end", fill="#444")
    middle = bars.top + bars.height / 2
    turned = f"rotate(-90 {panels.MARGIN + 8} {middle})"
    yield svg.text(panels.MARGIN + 8, middle, "rows", anchor="middle", fill="#444", transform=turned)


def _below(bars: _Bars, noun: str) -> Iterator[str]:
    said = f"each bar the mean of {bars.together:,} neighbours" if bars.together > 1 else f"one bar per {noun}"
    yield svg.text(LEFT + PLOT / 2, bars.bottom + 18, said, anchor="middle", fill="#444")


def _keys(layer: Layer) -> Iterator[Key]:
    r = layer.routing
    yield Key(_ROWS, f"rows of an {r.noun}" if r.noun == "expert" else f"rows of a {r.noun}")
    yield Key(_PADDING, f"padding to whole tiles of {r.tile_m}")
    yield Key(MEAN, f"mean active {r.noun}" + (", mean rank" if r.num_ranks > 1 else ""), MEAN_DASH)
    if r.num_ranks > 1:
        yield Key(BUSY, "busiest rank")


def _words(layer: Layer) -> Iterator[str]:
    """What `explain` prints of the bars, and where they come from."""
    r = layer.routing
    yield f"Active {r.noun}s: {r.activity()}. Hottest {r.noun}: {r.heat()}."
    yield f"Padding: {r.padding()}."
    if r.num_ranks > 1:
        yield f"Busiest rank: {r.rank()}; its time is the layer's."
    yield layer.source
