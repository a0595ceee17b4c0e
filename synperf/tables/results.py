"""Results beside the input: which columns a table has in the end, and what their cells look like as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from .batch import Batch, Cells, is_empty, plain
from .headings import FILLED, LISTS, kind_of, number_fields


def merge(batch: Batch, answers: Mapping[str, Cells]) -> dict[str, Cells]:
    """The input's columns in their order, then the results that are not among them.

    No cell of the input changes; empty ones of `family`, `gpu`, `engine` and `kernel` are filled in.
    """
    filled = {name: fill(batch.columns[name], answers[name]) for name in FILLED if name in batch.columns}
    return {**batch.columns, **{name: cells for name, cells in answers.items() if name not in batch.columns}, **filled}


def fill(cells: Cells, answers: Cells) -> Cells:
    """`cells` with the empty ones taken from `answers`."""
    if not any(map(is_empty, cells)):
        return cells
    return [answer if is_empty(cell) else cell for cell, answer in zip(cells, answers, strict=True)]


def flat(name: str, cells: Cells) -> Cells:
    """A result column with one value a cell: lists joined by `;`, versions as `name=value` joined by `;`."""
    if name not in LISTS:
        return cells
    distinct = {id(cell): cell for cell in cells}  # equal values are mostly one object
    texts = {key: _joined(cell) for key, cell in distinct.items()}
    return [texts[key] for key in map(id, cells)]


def _joined(value: Mapping[str, str] | Iterable[str]) -> str:
    return ";".join([f"{key}={part}" for key, part in value.items()] if isinstance(value, Mapping) else value)


def as_text(cells: Cells) -> list[str]:
    """Each cell as text: numbers with the fewest digits that give them back, lists as JSON, nothing for None."""
    if isinstance(cells, np.ndarray) and cells.dtype == np.bool_:
        return ["true" if cell else "false" for cell in cells.tolist()]
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


def records(columns: Mapping[str, Cells]) -> Iterator[dict[str, Any]]:
    """Rows of columns, each as a dict of Python's own types."""
    lists = [cells.tolist() if isinstance(cells, np.ndarray) else cells for cells in columns.values()]
    for values in zip(*lists, strict=True):
        yield dict(zip(columns, values, strict=True))


def typed_columns(columns: Mapping[str, Cells], families: Cells) -> dict[str, Cells]:
    """Columns with those that are number fields of one of the families as numbers, whatever text they came from."""
    numbers = {name for known in set(families) for name in number_fields(kind_of(known))}
    return {name: [_typed(cell) for cell in cells] if name in numbers else cells for name, cells in columns.items()}


def _typed(cell: Any) -> Any:
    """Text as the whole number that it is, empty text as None; anything else stays."""
    if not isinstance(cell, str):
        return plain(cell)
    if is_empty(cell):
        return None
    try:
        return int(cell) if cell.isdigit() else int(float(cell)) if float(cell).is_integer() else cell
    except (ValueError, OverflowError):
        return cell
