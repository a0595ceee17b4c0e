"""Images in each layout, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ...calculators.images.memory import BLOCKED, Images, index
from ...calculators.layout import Layout
from ...units import counted, format_quantity, format_time
from ..charts import cells
from ..text import labelled, paragraphs, sentences, table

_HEADS = ("layout", "n", "c", "h", "w", "block to block", "size", "value at", "lanes along c", "lanes along w")
_RIGHT = _HEADS[1:]
_SHOWN = 32  # values of a row of the drawing
_KINDS = ("first point", "second point", "third point", "further points", "padding")


def to_dict(found: Layout) -> dict[str, Any]:
    """Every field, those of the conversion beside the others."""
    fields = asdict(found)
    made: dict[str, Any] = fields.pop("conversion")
    return fields | made


def to_text(found: Layout) -> str:
    """Strides of each layout, the conversion, and why."""
    made, of = found.conversion, found.images
    cost = f"{format_quantity(made.conversion_bytes, 'B', 4)}, {format_time(made.conversion_s or 0.0)}"
    converted = made.conversion_s is not None and made.conversion_bytes > 0
    lines = [
        ("images", f"{of.batch:,} x {of.channels:,} x {of.height:,} x {of.width:,} in {of.dtype}, "
                   f"{format_quantity(found.size_bytes, 'B', 6)}"),
        ("conversion", f"{made.source} to {made.target}: {cost}" if converted else ""),
        ("pays after", "" if made.break_even_uses is None else counted(made.break_even_uses, "use")),
    ]  # fmt: skip
    return paragraphs(
        f"{found.preferred_layout} is what this hardware is fastest in",
        labelled(lines),
        table(_HEADS, _rows(found), right=_RIGHT),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _rows(found: Layout) -> Iterator[list[str]]:
    """Strides in values, and what is at the point that was asked for."""
    for name, one in found.layouts.items():
        far = one.strides
        called = f"nchw{found.images.block}c" if name == BLOCKED else name
        yield [
            called, *(f"{far[side]:,}" for side in "nchw"), f"{far['c_block']:,}" if "c_block" in far else "",
            format_quantity(one.size_bytes, "B", 4), f"{one.index:,}", counted(one.sectors_of_channels, "sector"),
            counted(one.sectors_of_row, "sector"),
        ]  # fmt: skip


def to_svg(found: Layout) -> str:
    """The first values of each layout in the order of memory: the channel of each, and the colour of its point."""
    rows = [(name, _cells(found.images, name)) for name in found.layouts]
    words = ("A cell is a value, its number the channel.", *found.why, *found.advice)
    return cells.draw(f"The first {_SHOWN} values in memory", _KINDS, rows, words=words)


def _cells(of: Images, layout: str) -> list[cells.Cell]:
    at = {place: (c, w) for c, w, place in _first(of, layout)}
    return [cells.Cell(str(at[i][0]), min(at[i][1], 3)) if i in at else cells.Cell("", 4) for i in range(_SHOWN)]


def _first(of: Images, layout: str) -> Iterator[tuple[int, int, int]]:
    """Channel, number of the point and place of values at the start of memory."""
    for c in range(min(of.channels, _SHOWN)):
        for point in range(min(of.height * of.width, _SHOWN)):
            yield c, point, index(of, layout, (0, c, point // of.width, point % of.width))
