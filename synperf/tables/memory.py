"""Tables in memory: a list of dicts, a dict of columns, a polars DataFrame. The answer is of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FieldError
from .batch import Batch, Cells
from .grouping import Plan, predict_batch
from .json_lines import join
from .results import flat, merge, records

NAME = "table"


def is_table(value: Any) -> bool:
    """Whether `predict_table` takes it."""
    return isinstance(value, list | Mapping) or _is_frame(value)


def predict_table(table: Any, plan: Plan) -> Any:
    """The table with the results added, of the kind that it is.

    Raises:
        PerfError: a column or a row is not what it should be; rows are counted from 1.
    """
    if _is_frame(table):
        from . import frames  # polars is there, since its DataFrame is

        batch = frames.batch_of(table, NAME)
        return frames.frame_of(batch, predict_batch(batch, plan))
    if isinstance(table, Mapping):
        return _predict_columns(table, plan)
    return _predict_rows(table, plan)


def _is_frame(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "polars"


def _predict_rows(rows: Sequence[Mapping[str, Any]], plan: Plan) -> list[dict[str, Any]]:
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise FieldError(f"{NAME} row {i + 1} must be a dict, got {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    answers = predict_batch(_batch(columns, len(rows)), plan)
    return [join(row, result) for row, result in zip(rows, records(answers), strict=True)]


def _predict_columns(table: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """A value that is no sequence stands for every row."""
    sizes = {name: len(cells) for name, cells in table.items() if _is_column(cells)}
    size = next(iter(sizes.values()), 1)
    for name, length in sizes.items():
        if length != size:
            raise FieldError(f"{NAME}: column {name} has {length} values, but {next(iter(sizes))} has {size}")
    batch = _batch({name: _column(cells, size) for name, cells in table.items()}, size)
    merged = merge(batch, {name: flat(name, cells) for name, cells in predict_batch(batch, plan).items()})
    return merged | {name: cells for name, cells in table.items() if merged[name] is batch.columns[name]}


def _is_column(cells: Any) -> bool:
    return isinstance(cells, list | tuple) or (isinstance(cells, np.ndarray) and cells.ndim > 0)


def _column(cells: Any, size: int) -> Cells:
    if not _is_column(cells):
        return [cells] * size
    found: Cells = cells.tolist() if isinstance(cells, np.ndarray) and cells.dtype.kind not in "iuf" else cells
    return found


def _batch(columns: Mapping[str, Cells], size: int) -> Batch:
    return Batch(name=NAME, columns=columns, size=size, place=lambda i: f"row {i + 1}")
