"""Rows that share family, GPU, formats and given fields are predicted together, as one call of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError, PerfError, named
from ..estimators import Estimate
from ..hardware import GPU
from ..kernels.base import Kind, call_from
from .batch import Batch, Cells, as_array, is_empty, one_value, pick, plain, presence
from .headings import NUMBERS, RESULTS, check_results, check_spelling, kind_of, number_fields, overlooked, synonyms


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a table is predicted: `family` and `gpu` are those of rows that name none."""

    estimate: Callable[[Any, GPU], Estimate]
    device: Callable[[str], GPU]  # the GPU of a name
    family: str | None = None
    gpu: GPU | None = None


def predict_batch(batch: Batch, plan: Plan) -> dict[str, Cells]:
    """The result columns of a batch: `family` and those of `RESULTS`.

    Raises:
        PerfError: a column or a row is not what it should be; of rows, the first one is named.
    """
    with named(batch.name):
        _check(batch, plan)
    parts, failures = [], []
    for rows in _split([cells for cells in map(batch.columns.get, ("family", "gpu")) if cells is not None], batch.size):
        try:
            kind, device = _kind(batch, plan, rows[0]), _device(batch, plan, rows[0])
        except PerfError as error:
            failures.append((rows[0], error))
            continue
        with named(batch.name):
            check_spelling(batch.columns, kind)
        failures += _overlooked(batch, kind, rows)
        for group in _groups(batch, kind, rows):
            try:
                parts.append((group, plan.estimate(_calls(batch, kind, group), device)))
            except PerfError as error:
                failures.append(_first_failure(batch, plan, kind, device, group, error))
    if failures:
        row, first = min(failures, key=lambda failure: int(failure[0]))
        raise type(first)(f"{batch.name} {batch.place(int(row))}: {first}") from first
    return _gather(batch.size, parts)


def _check(batch: Batch, plan: Plan) -> None:
    if not batch.columns and not batch.size:
        return
    check_results(batch.columns)
    if plan.family is None and "family" not in batch.columns:
        raise FieldError(f"family: none given for all rows, and no such column among {_listed(batch.columns)}")
    if plan.gpu is None and "gpu" not in batch.columns:
        raise FieldError(f"gpu: none given for all rows, and no such column among {_listed(batch.columns)}")
    if not batch.size and plan.family is not None:
        check_spelling(batch.columns, kind_of(plan.family))


def _overlooked(batch: Batch, kind: Kind, rows: np.ndarray) -> Iterator[tuple[int, PerfError]]:
    """The first row of each column that has another name of a field and holds something where the field is empty."""
    for name, field in synonyms(batch.columns, kind).items():
        given, own = batch.columns[name], batch.columns.get(field)
        empty = (row for row in rows.tolist() if own is None or is_empty(own[row]))
        found = next((row for row in empty if not is_empty(given[row])), None)
        if found is not None:
            yield found, overlooked(name, field)


def _listed(names: Any) -> str:
    text = ", ".join(names)
    return text if len(text) <= 80 else text[:77] + "..."


def _kind(batch: Batch, plan: Plan, row: int) -> Kind:
    name = _cell(batch, "family", row, plan.family)
    if name is None:
        raise FieldError("family is empty, and none is given for all rows")
    return kind_of(str(name).strip())


def _device(batch: Batch, plan: Plan, row: int) -> GPU:
    name = _cell(batch, "gpu", row, None)
    if name is not None:
        return plan.device(str(name).strip())
    if plan.gpu is None:
        raise FieldError("gpu is empty, and none is given for all rows")
    return plan.gpu


def _cell(batch: Batch, name: str, row: int, default: Any) -> Any:
    cells = batch.columns.get(name)
    return default if cells is None or is_empty(cells[row]) else plain(cells[row])


def _groups(batch: Batch, kind: Kind, rows: np.ndarray) -> list[np.ndarray]:
    """`rows`, split so that each part has one value of every field that is not a number, and gives the same fields.

    Nor do they differ in a number that decides what another field is by default.
    """
    numbers = number_fields(kind)
    keys: list[Cells] = [_is_one(pick(batch.columns[name], rows)) for _, name in kind.by_one if name in batch.columns]
    for name in kind.field_names():
        if name in batch.columns:
            if name not in numbers:
                keys.append(pick(batch.columns[name], rows))
            elif batch.array(name) is None and (given := presence(pick(batch.columns[name], rows))) is not None:
                keys.append(given)
    return [rows[part] for part in _split(keys, len(rows))]


def _is_one(cells: Cells) -> list[bool]:
    """Which cells of a number field hold 1; what is no number is refused when its call is made."""
    return [str(plain(cell)).strip().removesuffix(".0") == "1" for cell in cells]


def _split(keys: list[Cells], size: int) -> list[np.ndarray]:
    """Row indices of each combination of keys that occurs, by first occurrence."""
    if not size:
        return []
    varying = [[_hashable(cell) for cell in key] for key in map(list, keys) if key.count(key[0]) != size]
    if not varying:
        return [np.arange(size)]
    index: dict[Any, int] = {}
    codes = np.fromiter((index.setdefault(key, len(index)) for key in zip(*varying, strict=True)), np.intp, count=size)
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def _hashable(cell: Any) -> Any:
    return cell if isinstance(cell, str | bool | None) else repr(cell)


def _calls(batch: Batch, kind: Kind, rows: np.ndarray) -> Any:
    """One call that holds the columns of `rows`, which give the same fields."""
    numbers, values = number_fields(kind), {}
    for name in kind.field_names():
        cells = batch.columns.get(name)
        if cells is None or is_empty(cells[rows[0]]):
            continue
        if name in numbers:
            array = batch.array(name)
            values[name] = as_array(pick(cells, rows)) if array is None else array[rows]
        else:
            values[name] = plain(cells[rows[0]])
    return call_from(kind, values)


def _first_failure(
    batch: Batch, plan: Plan, kind: Kind, device: GPU, rows: np.ndarray, error: PerfError
) -> tuple[int, PerfError]:
    """The first of the rows that fails, found by halving, with its error in the words of one call."""

    def fails(part: np.ndarray) -> bool:
        try:
            plan.estimate(_calls(batch, kind, part), device)
        except PerfError:
            return True
        return False

    while len(rows) > 1:
        half = rows[: len(rows) // 2]
        rows = half if fails(half) else rows[len(rows) // 2 :]
    row = int(rows[0])
    values = {name: plain(batch.columns[name][row]) for name in kind.field_names() if name in batch.columns}
    numbers = number_fields(kind)
    try:
        one = {name: one_value(value) if name in numbers else value for name, value in values.items()}
        plan.estimate(call_from(kind, one), device)
    except PerfError as found:
        return row, found
    return row, error


def _gather(size: int, parts: Sequence[tuple[np.ndarray, Estimate]]) -> dict[str, Cells]:
    """Result columns in the order of the rows."""
    kinds: dict[str, Any] = dict.fromkeys(NUMBERS, np.float64) | {"extrapolating": np.bool_}
    columns = {name: np.empty(size, dtype=kinds.get(name, object)) for name in ("family", *RESULTS)}
    for rows, estimate in parts:
        for name, column in columns.items():
            _put(column, rows, getattr(estimate, name))
    assert all(np.isfinite(columns[name]).all() and (columns[name] > 0).all() for name in NUMBERS)
    return {name: _object_list(column) if column.dtype == object else column for name, column in columns.items()}


def _put(column: np.ndarray, rows: np.ndarray, value: Any) -> None:
    """Writes one value for all rows, or one per row where `value` is a list or array."""
    if isinstance(value, list):
        for row, one in zip(rows.tolist(), value, strict=True):
            column[row] = one
    elif isinstance(value, np.ndarray) or column.dtype != object:
        column[rows] = value
    else:
        boxed = np.empty((), dtype=object)  # so that a tuple is one value, not a sequence of them
        boxed[()] = value
        column[rows] = boxed


def _object_list(column: np.ndarray) -> list[Any]:
    found: list[Any] = column.tolist()
    return found
