"""Whether grids may be launched and how they fill a GPU, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.grid import AXES, Grids, shown
from ...units import format_percent
from ..charts import cells
from ..known import known
from ..text import number, paragraphs, section, table


def to_dict(found: Grids) -> dict[str, Any]:
    """Every field that has a value, of each grid too."""
    return known(found) | {"grids": [known(one) for one in found.grids]}


def to_text(found: Grids) -> str:
    """Each grid, why, and what to change."""
    heads = ("grid", "CTAs", "launch", "waves", "last wave", "slots used")
    kept = heads if any(one.waves is not None for one in found.grids) else heads[:3]
    rows = (row[: len(kept)] for row in _rows(found))
    return paragraphs(
        table(kept, rows, right=("CTAs", *kept[3:])), section("why", found.why), section("advice", found.advice)
    )


def _rows(found: Grids) -> Iterator[tuple[str, ...]]:
    for one in found.grids:
        filled = ("", "", "")
        if one.waves is not None and one.last_wave is not None and one.slots_used is not None:
            filled = (number(one.waves), format_percent(one.last_wave), format_percent(one.slots_used))
        yield shown(one.grid), f"{one.ctas:,}", "valid" if one.valid else f"INVALID, {' and '.join(one.over)}", *filled


def to_svg(found: Grids) -> str:
    """Every axis of every grid, whether it is within its limit."""
    rows = [
        (shown(one.grid), [cells.Cell("over", 1) if axis in one.over else cells.Cell("ok", 0) for axis in AXES])
        for one in found.grids
    ]
    kinds = ("within the limit", "over it")
    return cells.draw("CTAs along each axis of a grid", kinds, rows, tuple(AXES), (*found.why, *found.advice))
