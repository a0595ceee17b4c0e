"""Extents and what they are padded to, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.alignment import BEST_BYTES, Alignment, Extent
from ...units import format_percent
from ..charts import cells
from ..text import paragraphs, sentences, table

_HEADS = ("extent", "value", "loads of", "padded", "waste", "whole lines", "waste of them")
_KINDS = ("values", "padding to 16 bytes", "padding to a whole line")
_LEAST_CELL = 2.0  # bytes: 64 cells are a line


def to_dict(found: Alignment) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Alignment) -> str:
    """A line for each extent, and why."""
    lost = f"padded to {found.needed_bytes} bytes, {format_percent(found.flop_waste)} of the FLOP are padding"
    return paragraphs(
        f"{'aligned' if found.aligned else 'not aligned'} in {found.dtype}; {lost}",
        table(_HEADS, map(_row, found.extents), right=_HEADS[1:]),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _row(one: Extent) -> list[str]:
    return [
        one.name, f"{one.value:,}", f"{one.load_bytes:g} bytes", f"{one.padded:,}", format_percent(one.waste),
        f"{one.best_padded:,}", format_percent(one.best_waste),
    ]  # fmt: skip


def to_svg(found: Alignment) -> str:
    """The last line of a row of each extent."""
    size = max(_LEAST_CELL, found.element_bytes)
    rows = [(f"{one.name} {one.value:,}", _last_line(one, found.element_bytes, size)) for one in found.extents]
    words = (*found.why, *found.advice)
    title = f"The last {BEST_BYTES} bytes of a row in {found.dtype}, {size:g} bytes a cell"
    return cells.draw(title, _KINDS, rows, words=words)


def _last_line(one: Extent, element_bytes: float, size: float) -> list[cells.Cell]:
    per_line = BEST_BYTES / element_bytes
    start = (one.value - 1) // per_line * per_line
    ends = [(end - start) * element_bytes for end in (one.value, one.padded)]
    places = [at * size for at in range(int(BEST_BYTES / size))]
    return [cells.Cell(kind=0 if at < ends[0] else 1 if at < ends[1] else 2) for at in places]
