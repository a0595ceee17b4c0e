"""Curves and points over two axes, each linear or logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10

from .. import svg
from ..axis import label as count_label
from ..axis import ticks
from .frame import INK, MARGIN, RULE, TOP, WIDTH, axis_names, colour, document

_LEFT, _HEIGHT = 76.0, 300.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points; `step` draws it as stairs, which values that jump ask for."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    step: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its name."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Axis:
    """What is along it, how a number there is written, and whether it is logarithmic (all values above 0)."""

    name: str
    shown: Callable[[float], str] = count_label
    log: bool = False


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float  # where `low` is drawn
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, here = (log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def marks(self) -> list[float]:
        if not self.log:
            return [self.low + tick for tick in ticks(self.high - self.low, 8)]
        powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
        apart = max(1, ceil(len(powers) / 9))
        return [10.0**p for p in powers[::apart]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves first, then marks above them; `words` are sentences below."""

    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve] = ()
    marks: Sequence[Mark] = ()
    words: Sequence[str] = field(default=())


def draw(chart: Chart) -> str:
    """The chart as an SVG document."""
    xs = [*(v for c in chart.curves for v in c.x), *(m.x for m in chart.marks)]
    ys = [*(v for c in chart.curves for v in c.y), *(m.y for m in chart.marks)]
    across = _scale(xs, chart.x.log, _LEFT, WIDTH - MARGIN - 10)
    up = _scale(ys, chart.y.log, TOP + _HEIGHT, TOP + 6)
    body = [*_grid(chart, across, up), *axis_names(chart.y.name, chart.x.name, MARGIN, TOP + _HEIGHT + 34)]
    for place, curve in enumerate(chart.curves):
        body.append(_line(curve, across, up, colour(place)))
    body += [part for mark in chart.marks for part in _mark(mark, across, up)]
    return document(chart.title, body, TOP + _HEIGHT + 40, [curve.name for curve in chart.curves], chart.words)


def _scale(values: Sequence[float], log: bool, start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    if log:
        low, high = 10.0 ** floor(log10(low) + 1e-9), 10.0 ** ceil(log10(high) - 1e-9)
        return _Scale(low, high if high > low else low * 10, start, end, log=True)
    low = min(low, 0.0)
    return _Scale(low, high if high > low else low + 1.0, start, end)


def _grid(chart: Chart, across: _Scale, up: _Scale) -> Iterator[str]:
    bottom, right = TOP + _HEIGHT, WIDTH - MARGIN - 10
    for value in up.marks():
        yield svg.rect(_LEFT, up.at(value), right - _LEFT, 0.5, RULE)
        yield svg.text(_LEFT - 6, up.at(value) + 4, chart.y.shown(value), size=11, anchor="end")
    for value in across.marks():
        yield svg.rect(across.at(value), TOP + 6, 0.5, _HEIGHT - 6, RULE)
        yield svg.text(across.at(value), bottom + 16, chart.x.shown(value), size=11, anchor="middle")


def _line(curve: Curve, across: _Scale, up: _Scale, stroke: str) -> str:
    places = [(across.at(x), up.at(y)) for x, y in zip(curve.x, curve.y, strict=True)]
    outline = f"M{places[0][0]:.2f} {places[0][1]:.2f}"
    for x, y in places[1:]:
        outline += f"H{x:.2f}V{y:.2f}" if curve.step else f"L{x:.2f} {y:.2f}"
    return svg.element("path", d=outline, fill="none", stroke=stroke, stroke_width=2)


def _mark(mark: Mark, across: _Scale, up: _Scale) -> Iterator[str]:
    x, y = across.at(mark.x), up.at(mark.y)
    yield svg.element("circle", cx=x, cy=y, r=4.5, fill=INK)
    ends_right = x + svg.width_of(mark.name, 11) + 8 < WIDTH
    yield svg.text(x + 8 if ends_right else x - 8, y - 7, mark.name, size=11, anchor="start" if ends_right else "end")
