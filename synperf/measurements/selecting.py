"""Which rows of a user's file are read: those of one family, and of one state of L2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware.fields import show
from ..kernels import KernelFamily, families
from ..tables.batch import Batch, Cells, is_empty, one_value, pick
from .columns import TEXTS

_STATES = {"": False, "warm": False, "cold": True}
COLD = "were timed with a cold L2, beside others with a warm one"


def of_family(batch: Batch, kind: KernelFamily) -> tuple[Batch, dict[str, np.ndarray]]:
    """(the rows of a family, where the others are by their family's name).

    Rows that name none are of it, and so are those whose name may be its own misspelled: they are refused later.
    """
    names = [_name(cell) for cell in batch.columns.get("family", ())]
    others = {name for name in set(names) if _is_other(name, kind.name)}
    if not others:
        return batch, {}
    column = np.array(names, dtype=object)
    rows = np.flatnonzero([name not in others for name in names])
    place: Callable[[int], str] = batch.place
    kept = replace(
        batch, columns=_filled(batch.columns, rows), size=len(rows), place=lambda i: place(int(rows[i])), rows=None,
        _arrays={},
    )  # fmt: skip
    return kept, {name: np.flatnonzero(column == name) for name in sorted(others)}


def is_cold(column: str, cell: Any) -> bool:
    """Whether a row was timed after L2 was flushed; one that does not say it was not.

    Raises:
        FieldError: the cell is neither cold nor warm.
    """
    name = _name(cell)
    if name not in _STATES:
        raise FieldError(f"{column} must be warm or cold, got {show(cell)}")
    return _STATES[name]


def _name(cell: Any) -> str:
    return "" if is_empty(cell) else str(one_value(cell)).strip().lower()


def _is_other(name: str, wanted: str) -> bool:
    return name not in ("", wanted) and (name in families() or not get_close_matches(name, [wanted], cutoff=0.6))


def _filled(columns: Mapping[str, Cells], rows: np.ndarray) -> dict[str, Cells]:
    """The cells of some rows, without columns that are only for the others."""
    found = {name: pick(cells, rows) for name, cells in columns.items()}
    return {name: cells for name, cells in found.items() if name in TEXTS or not all(map(is_empty, cells))}
