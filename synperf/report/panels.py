"""The frame of a drawing of unequal work: titles above, its panel at the left, pipes at the right, words below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ..light_classes import dataclass
from . import pipe_bars, svg

LEFT, TOP, PLOT = 92.0, 92.0, 494.0  # of the left panel: edges, and the width of what is plotted
BUSY, MEAN = "#c62828", "#222222"
MEAN_DASH = "4 3"
MARGIN = 20.0
_WIDTH, _TITLE, _PIPES = 980.0, 76.0, 628.0
_ROOM = _WIDTH - 2 * MARGIN
_LINE, _BELOW = 18.0, 22.0  # height of a line of words; from panels to the legend


class Key(NamedTuple):
    """An entry of the legend; lines have a pattern of dashes, or `none`."""

    colour: str
    words: str
    dash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """All but the left panel, which `title` stands above; `words` are sentences."""

    heading: str
    call: str
    title: str
    times: pipe_bars.Times
    legend: Sequence[Key]
    words: Sequence[str]


def render(frame: Frame, panel: Iterable[str], bottom: float) -> str:
    """The drawing as an SVG document, of a left panel that ends at `bottom`."""
    legend = max(bottom, _TITLE + pipe_bars.height(frame.times)) + _BELOW
    keys, after = _keys(frame.legend, legend)
    said = [line for sentence in frame.words for line in svg.wrapped(sentence, _ROOM)]
    words = (svg.text(MARGIN, after + _LINE * (at + 1.4), line, fill="#444") for at, line in enumerate(said))
    parts = chain(_titles(frame), panel, pipe_bars.render(frame.times, _PIPES, _TITLE), keys, words)
    return svg.document(_WIDTH, after + _LINE * (len(said) + 1.4), f"{frame.heading}: {frame.title}", parts)


def _titles(frame: Frame) -> Iterator[str]:
    yield svg.text(MARGIN, 28, svg.clipped(frame.heading, _ROOM, 18, bold=True), size=18, bold=True)
    yield svg.text(MARGIN, 48, svg.clipped(frame.call, _ROOM), fill="#444")
    title = svg.clipped(frame.title, _PIPES - MARGIN - 12, 13, bold=True)
    yield svg.text(MARGIN, _TITLE, title, size=13, bold=True)


def _keys(keys: Sequence[Key], y: float) -> tuple[list[str], float]:
    """The legend over as many lines as it takes, and the last one's baseline."""
    found, x = [], MARGIN
    for key in keys:
        width = 34 + svg.width_of(key.words)
        if x > MARGIN and x + width > _WIDTH:
            x, y = MARGIN, y + _LINE
        if key.dash:
            found.append(svg.line(x - 1, y - 4, x + 13, y - 4, key.colour, stroke_dasharray=key.dash))
        else:
            found.append(svg.rect(x, y - 10, 12, 12, key.colour))
        found.append(svg.text(x + 18, y, key.words))
        x += width
    return found, y
