"""A grid of cells with a label each: lanes by bank, sectors of a line, bytes of a layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import svg
from .frame import MARGIN, MUTED, TOP, WIDTH, colour, document

_MOST = 34.0


@dataclass(frozen=True, slots=True)
class Cell:
    """What is written in it, and its kind: a place in the legend, or None for what is empty."""

    label: str = ""
    kind: int | None = None


def draw(
    title: str,
    kinds: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Cell]]],
    heads: Sequence[str] = (),
    words: Sequence[str] = (),
) -> str:
    """Rows with their names at the left; `heads` name the columns."""
    left = MARGIN + min(160.0, max((svg.width_of(name, 11) for name, _ in rows), default=0.0) + 10)
    columns = max((len(cells) for _, cells in rows), default=1)
    side = min(_MOST, (WIDTH - MARGIN - left) / max(columns, 1))
    top = TOP + (14 if heads else 0)
    body = [*_heads(heads, left, side)]
    for at, (name, cells) in enumerate(rows):
        y = top + at * side
        body.append(svg.text(left - 6, y + side / 2 + 4, name, size=11, anchor="end"))
        body += [part for place, cell in enumerate(cells) for part in _cell(cell, left + place * side, y, side)]
    return document(title, body, top + len(rows) * side, kinds, words)


def _heads(heads: Sequence[str], left: float, side: float) -> Iterator[str]:
    size = min(10.0, side / 2)
    for place, head in enumerate(heads):
        yield svg.text(left + (place + 0.5) * side, TOP + 8, head, size=size, anchor="middle")


def _cell(cell: Cell, x: float, y: float, side: float) -> Iterator[str]:
    yield svg.rect(x, y, side - 1, side - 1, MUTED if cell.kind is None else colour(cell.kind))
    size = min(11.0, side / 2)
    if cell.label and svg.width_of(cell.label, size) <= side:
        ink = "#222" if cell.kind is None else "#fff"
        yield svg.text(x + side / 2, y + side / 2 + size / 3, cell.label, size=size, anchor="middle", fill=ink)
