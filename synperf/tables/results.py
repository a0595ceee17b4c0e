"""Results beside the input: which columns a table has in the end, and what their cells look like as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from .batch import Batch, Cells, is_empty, plain
from .headings import FILLED, LISTS


def merge(batch: Batch, answers: Mapping[str, Cells]) -> dict[str, Cells]:
    """The input's columns in their order, then the results that are not among them.

    No cell of the input changes; empty ones of `family`, `gpu`, `engine` and `kernel` are filled in.
    """
    filled = {name: fill(batch.columns[name], answers[name]) for name in FILLED if name in batch.columns}
    return {**answers_last(batch.columns, answers), **filled}


def answers_last(columns: Mapping[str, Cells], answers: Mapping[str, Cells]) -> dict[str, Cells]:
    """`columns`, then the answers whose names are not among them."""
    return {**columns, **{name: cells for name, cells in answers.items() if name not in columns}}


def fill(cells: Cells, answers: Cells) -> Cells:
    """`cells` with the empty ones taken from `answers`."""
    return [answer if is_empty(cell) else cell for cell, answer in zip(cells, answers, strict=True)]


def flat(name: str, cells: Cells) -> Cells:
    """A result column with one value a cell: lists joined by `;`, versions as `name=value` joined by `;`."""
    if name not in LISTS:
        return cells
    texts: dict[int, str] = {}  # equal values are mostly one object
    return [texts[id(cell)] if id(cell) in texts else texts.setdefault(id(cell), _joined(cell)) for cell in cells]


def _joined(value: Mapping[str, str] | Iterable[str]) -> str:
    return ";".join([f"{key}={part}" for key, part in value.items()] if isinstance(value, Mapping) else value)


def as_text(cells: Cells) -> list[str]:
    """Each cell as text: numbers with the fewest digits that give them back, lists as JSON, nothing for None."""
    values = cells.tolist() if isinstance(cells, np.ndarray) else cells
    kinds = set(map(type, values))
    if kinds <= {str}:
        return list(values)
    if kinds == {float}:
        return msgspec.json.encode(values)[1:-1].decode().split(",")
    return [_text(value) for value in values]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else msgspec.json.encode(plain(cell), enc_hook=str).decode().strip('"')


def typed(cells: Cells) -> list[Any]:
    """Cells of a number field with text as the whole number that it is; other text stays."""
    return [_typed(cell) for cell in cells]


def _typed(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    if is_empty(cell):
        return None
    try:
        return int(cell) if cell.isdigit() else int(float(cell)) if float(cell).is_integer() else cell
    except (ValueError, OverflowError):
        return cell
