"""What every chart has: a title, a legend and sentences below it; and the colours of series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from .. import svg

COLOURS = ("#0b6e99", "#d9730d", "#4d8b31", "#8a3ffc", "#b3261e", "#7a6a00", "#3f3f46", "#00897b", "#c2185b")
MUTED, RULE, INK, SOFT = "#ececec", "#d0d0d0", "#222222", "#444444"
WIDTH, MARGIN, TOP = 760.0, 20.0, 52.0
LINE = 18.0


def colour(place: int) -> str:
    """Of the series at a place; they repeat after nine."""
    return COLOURS[place % len(COLOURS)]


def document(title: str, body: Iterable[str], bottom: float, legend: Sequence[str], words: Sequence[str]) -> str:
    """The chart as an SVG document: what is drawn ends at `bottom`, then come a legend and sentences."""
    keys, after = _keys(legend, bottom + LINE + 4)
    said = [line for sentence in words for line in svg.wrapped(sentence, WIDTH - 2 * MARGIN)]
    lines = (svg.text(MARGIN, after + LINE * (at + 1), line, fill=SOFT) for at, line in enumerate(said))
    heading = svg.text(MARGIN, 28, svg.clipped(title, WIDTH - 2 * MARGIN, 16, bold=True), size=16, bold=True)
    height = after + LINE * (len(said) + 1)
    return svg.document(WIDTH, height, title, chain([heading], body, keys, lines))


def _keys(names: Sequence[str], y: float) -> tuple[list[str], float]:
    """The legend over as many lines as it takes, and the baseline after which sentences begin."""
    found, x = [], MARGIN
    for place, name in enumerate(names):
        width = 34 + svg.width_of(name)
        if x > MARGIN and x + width > WIDTH - MARGIN:
            x, y = MARGIN, y + LINE
        found += [svg.rect(x, y - 10, 12, 12, colour(place)), svg.text(x + 18, y, name)]
        x += width
    return found, y if names else y - LINE


def axis_names(left: str, below: str, x: float, y: float) -> Iterator[str]:
    """What the axes mean: the vertical one above its top at `x`, the horizontal one at the right end below `y`."""
    yield svg.text(x, TOP - 6, left, size=11, fill=SOFT)
    yield svg.text(WIDTH - MARGIN, y, below, size=11, anchor="end", fill=SOFT)
