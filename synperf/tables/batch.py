"""A batch: some rows of a table of calls, as columns of cells.

A cell is text, a number, a truth value, or a list; an empty one (None, or blank text) leaves its field at the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

Cells = Sequence[Any] | np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows of a table: columns of one length by name.

    `name` is that of the file. `place` says where row i stands, as a reader would look for it: `row 17 (line 18)`.
    `rows` are the rows as their format holds them, for a writer of the same format.
    """

    name: str
    columns: Mapping[str, Cells]
    size: int
    place: Callable[[int], str]
    rows: Any = None
    _arrays: dict[str, np.ndarray | None] = field(default_factory=dict, repr=False)

    def array(self, name: str) -> np.ndarray | None:
        """A column as an array where all its cells are numbers, or text of digits; else None."""
        if name not in self._arrays:
            cells = self.columns[name]
            is_number = isinstance(cells, np.ndarray) and cells.dtype != object
            self._arrays[name] = np.asarray(cells) if is_number else _digits(cells)
        return self._arrays[name]


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing."""
    return cell is None or (isinstance(cell, str) and (not cell or cell.isspace()))


def presence(cells: Cells) -> list[bool] | None:
    """Which cells hold something; None when all do."""
    flags = [not is_empty(cell) for cell in cells]
    return None if all(flags) else flags


def pick(cells: Cells, rows: np.ndarray) -> Cells:
    """The cells of some rows, in the order of `rows`."""
    if isinstance(cells, np.ndarray):
        part: np.ndarray = cells[rows]
        return part
    return cells if len(rows) == len(cells) else [cells[i] for i in rows.tolist()]


def as_array(cells: Cells) -> np.ndarray:
    """Cells of a number field as an array: of whole numbers where all are, else of what the cells hold."""
    found = _digits(cells)
    if found is not None:
        return found
    return np.fromiter((one_value(cell) for cell in cells), dtype=object, count=len(cells))


def plain(cell: Any) -> Any:
    """A cell as Python's own type."""
    return cell.item() if isinstance(cell, np.generic) else cell


def one_value(cell: Any) -> Any:
    """A cell of a number field as one value: lists become text, which no such field takes."""
    return msgspec.json.encode(cell, enc_hook=str).decode() if isinstance(cell, list | tuple | dict) else plain(cell)


def _digits(cells: Cells) -> np.ndarray | None:
    """int64 values of cells that are all ASCII digits or all ints; None where one is anything else."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        text = "".join(cells)
        if not (text.isascii() and text.isdigit()) or "" in cells:
            return None
    elif kinds != {int}:
        return None
    try:
        return np.array(list(map(int, cells)), dtype=np.int64)
    except (ValueError, OverflowError):
        return None
