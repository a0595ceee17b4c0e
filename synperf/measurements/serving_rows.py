"""Serving points that a user measured: a table with a row for each load of a server.

Columns: `model` (a name of the catalog, or a config.json), `gpu`, `engine`, `concurrency`, `isl`, `osl`, and the mean
`ttft_ms` and `tpot_ms` over all requests (or `ttft_s`, `tpot_s`); and where they are not the usual ones `dtype`, `tp`,
`pp`, `dp`, `ep`, `version`. Others are the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FieldError, PerfError
from ..hardware import gpu as of_name
from ..kernels.fields import dtype_of, whole
from ..models import model as described
from ..tables.batch import Batch, is_empty
from ..tables.files import read as batches_of
from .points import Points

SOURCE = "own"
_TEXTS = ("model", "gpu", "engine")
_COUNTS = ("concurrency", "isl", "osl")
_RANKS = ("tp", "pp", "dp", "ep")
_TIMES = ("ttft", "tpot")
_LONGEST_S = 1e6
MOST = 100_000  # rows


def read(source: str | Path) -> Points:
    """The points of a table (.csv, .jsonl, .parquet, or CSV on standard input).

    Raises:
        PerfError: the file cannot be read, or does not hold what it should; the message names the place.
    """
    rows: list[dict[str, Any]] = []
    for batch in batches_of("rows", source):
        if len(rows) + batch.size > MOST:
            raise FieldError(f"{batch.name}: more than {MOST} rows; right would be a part of them")
        rows += [_row(batch, at) for at in range(batch.size)]
    if not rows:
        raise FieldError(f"{Path(source).name}: no rows; right would be one or more measured loads")
    return _points(rows)


def _row(batch: Batch, at: int) -> dict[str, Any]:
    cells = {name: column[at] for name, column in batch.columns.items()}
    try:
        return _read(cells)
    except PerfError as error:
        raise type(error)(f"{batch.name} {batch.place(at)}: {error}") from error


def _read(cells: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: _needed(cells, name, lambda _, cell: str(cell).strip()) for name in _TEXTS}
    found["gpu"] = of_name(found["gpu"]).key
    found["model"] = described(found["model"]).name if not Path(found["model"]).exists() else found["model"]
    found |= {name: _needed(cells, name, _count) for name in _COUNTS}
    if found["osl"] < 2:
        raise FieldError(f"osl must be 2 or more, as there is no time between tokens of one, got {found['osl']}")
    found |= {name: 1 if is_empty(cells.get(name)) else _count(name, cells[name]) for name in _RANKS}
    found["dtype"] = "" if is_empty(cells.get("dtype")) else str(dtype_of("dtype", str(cells["dtype"]).strip()))
    found["version"] = "" if is_empty(cells.get("version")) else str(cells["version"]).strip()
    return found | {f"{name}_s": _seconds(cells, name) for name in _TIMES}


def _needed(cells: Mapping[str, Any], name: str, read_cell: Callable[[str, Any], Any]) -> Any:
    if is_empty(cells.get(name)):
        raise FieldError(f"{name} is missing; right would be {', '.join((*_TEXTS, *_COUNTS))}, ttft_ms and tpot_ms")
    return read_cell(name, cells[name])


def _count(name: str, cell: Any) -> int:
    return int(whole(name, cell))


def _seconds(cells: Mapping[str, Any], name: str) -> float:
    for unit, scale in (("ms", 1e-3), ("s", 1.0)):
        cell = cells.get(f"{name}_{unit}")
        if is_empty(cell):
            continue
        try:
            value = float(cell) * scale  # type: ignore[arg-type]  # text or a number
        except (TypeError, ValueError):
            value = float("nan")
        if not (isfinite(value) and 0 < value < _LONGEST_S):
            raise FieldError(f"{name}_{unit} must be a time above 0, got {str(cell)[:40]!r}")
        return value
    raise FieldError(f"{name}_ms is missing; right would be the mean over all requests, in milliseconds")


def _points(rows: list[dict[str, Any]]) -> Points:
    def texts(name: str) -> Any:
        return np.array([row[name] for row in rows], dtype=object)

    def numbers(name: str) -> Any:
        return np.array([row[name] for row in rows])

    count = len(rows)
    return Points(
        name=np.array([f"row {at + 1}" for at in range(count)], dtype=object),
        family=texts("model"),
        source=np.full(count, SOURCE, dtype=object),
        is_test=np.zeros(count, dtype=bool),
        **{name: texts(name) for name in (*_TEXTS, "dtype", "version")},
        **{name: numbers(name) for name in (*_COUNTS, *_RANKS, "ttft_s", "tpot_s")},
    )
