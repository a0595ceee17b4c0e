"""A user's own table of measured calls: CSV, JSON lines or parquet. docs/measurements.md lists its columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from .. import hardware
from ..errors import FieldError, FileFormatError, PerfError
from ..hardware import GPU
from ..hardware.fields import show
from ..kernels import KernelFamily
from ..kernels.base import dtype_of, name_of, whole
from ..kernels.dispatch import resolve
from ..numeric import concatenated
from ..tables.batch import Batch, is_empty, one_value
from .audit import FileAudit, Reading
from .columns import IS_TEST, TEXTS, check_columns, ignored, time_column
from .merging import LABEL, merged
from .plausible import UNITS_S
from .schema import NUMBERS, Rows

UNKNOWN = "unknown"  # version of a row that names none
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False, "none": False}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What rows are that do not say it themselves."""

    gpu: GPU | None = None
    engine: str | None = None
    kernel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The rows of one batch: columns of one length. A label has a value for each of `LABEL`."""

    numbers: np.ndarray  # a row for each measurement, a column for each number field
    time_s: np.ndarray
    is_test: np.ndarray
    labels: np.ndarray
    devices: dict[str, GPU]  # by key


def read(batches: Iterable[Batch], kind: KernelFamily, name: str, given: Given) -> Reading:
    """The rows of a file, duplicates merged; every row is used.

    Raises:
        FileFormatError: a column or a row is not what it should be; the message names file, row and column.
    """
    parts = []
    for batch in batches:
        try:
            times, unit = time_column(batch.columns)
            check_columns(batch.columns, kind)
        except FieldError as wrong:
            raise FileFormatError(f"{name}: {wrong}") from None
        parts.append(_part(batch, kind, given, times, UNITS_S[unit]))
        unread = ignored(batch.columns, kind, times)
    rows = _rows(parts, kind, name)
    audits = tuple(_audit(part, name, gpu, unread) for (gpu,), part in rows.groups("gpu"))
    devices = {key: gpu for part in parts for key, gpu in part.devices.items()}
    return Reading(rows=rows, audits=audits, devices=devices, times=times, unit=unit)


def _audit(rows: Rows, name: str, gpu: str, unread: tuple[str, ...]) -> FileAudit:
    measured = int(rows.samples.sum())
    return FileAudit(source=name, gpu=gpu, rows=measured, kept=measured, keys=len(rows), dropped={}, ignored=unread)


def _rows(parts: list[_Part], kind: KernelFamily, name: str) -> Rows:
    columns = concatenated(parts)
    if not len(columns["time_s"]):
        raise FileFormatError(f"{name}: there are no rows under the header")
    by_label = defaultdict(list)
    for row, label in enumerate(columns["labels"]):
        by_label[label].append(row)
    return Rows.join([_merged(columns, np.array(by_label[label]), label, kind) for label in sorted(by_label)])


def _merged(columns: dict[str, np.ndarray], rows: np.ndarray, label: tuple[str, ...], kind: KernelFamily) -> Rows:
    return merged(
        dict(zip(LABEL, label, strict=True)),
        dict(zip(NUMBERS[kind.name], columns["numbers"][rows].T, strict=True)),
        columns["time_s"][rows],
        columns["is_test"][rows],
        np.zeros(len(rows), dtype=bool),
    )


def _part(batch: Batch, kind: KernelFamily, given: Given, times: str, unit_s: float) -> _Part:
    defaults = {f.name: f.default for f in fields(kind.call_type)}
    numbers = [_sizes(batch, field, defaults[field], kind) for field in NUMBERS[kind.name]]
    is_test = _each(batch, IS_TEST, _truth) if IS_TEST in batch.columns else [False] * batch.size
    found, labels = _labels(batch, kind, given), np.empty(batch.size, dtype=object)
    labels[:] = [label for label, _ in found]
    return _Part(
        numbers=np.stack(numbers, axis=1),
        time_s=np.array(_each(batch, times, _time), dtype=np.float64) * unit_s,
        is_test=np.array(is_test, dtype=bool),
        labels=labels,
        devices={gpu.key: gpu for _, gpu in found},
    )


def _sizes(batch: Batch, field: str, default: Any, kind: KernelFamily) -> np.ndarray:
    """A number field as whole numbers; cells without a value are the default, where there is one."""
    fallback = None if field in kind.required() else default

    def size(field: str, cell: Any) -> int:
        return int(whole(field, fallback if is_empty(cell) and fallback is not None else one_value(cell)))

    numbers = batch.array(field) if field in batch.columns else None
    if numbers is not None and numbers.dtype.kind in "iuf" and len(numbers):
        try:
            return np.asarray(whole(field, numbers), dtype=np.int64)
        except FieldError:
            pass  # which row it is, is found below
    return np.array(_each(batch, field, size), dtype=np.int64)


def _time(column: str, cell: Any) -> float:
    """A positive number.

    Raises:
        FieldError: it is not.
    """
    try:
        number = float(cell) if not isinstance(cell, bool) and "_" not in str(cell) else 0.0
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not 0 < number < np.inf:
        raise FieldError(f"{column} must be a positive number, got {show(cell)}")
    return number


def _truth(column: str, cell: Any) -> bool:
    """A truth value; an empty one is false.

    Raises:
        FieldError: it is not.
    """
    text = str(one_value(cell)).strip().lower()
    if text not in _TRUTHS:
        raise FieldError(f"{column} must be true or false, got {show(cell)}")
    return _TRUTHS[text]


def _labels(batch: Batch, kind: KernelFamily, given: Given) -> list[tuple[tuple[str, ...], GPU]]:
    """The label and the GPU of every row; rows of equal cells share them."""
    known: dict[tuple[str, ...], tuple[tuple[str, ...], GPU]] = {}
    labels = []
    for row, texts in enumerate(zip(*(_texts(batch, column) for column in TEXTS), strict=True)):
        if texts not in known:
            try:
                known[texts] = _label(texts, kind, given, batch.name)
            except PerfError as wrong:
                raise FileFormatError(f"{batch.name} {batch.place(row)}: {wrong}") from None
        labels.append(known[texts])
    return labels


def _texts(batch: Batch, column: str) -> list[str]:
    """The cells of a column as text without surrounding spaces; empty where there is no such column."""
    if column not in batch.columns:
        return [""] * batch.size
    return ["" if is_empty(cell) else str(one_value(cell)).strip() for cell in batch.columns[column]]


def _label(texts: tuple[str, ...], kind: KernelFamily, given: Given, source: str) -> tuple[tuple[str, ...], GPU]:
    """The values of `LABEL` that the cells of `TEXTS` stand for, and the GPU.

    What is missing is what `predict` would take.

    Raises:
        FieldError, UnknownNameError, UnsupportedError: naming what is wrong.
    """
    cells = dict(zip(TEXTS, texts, strict=True))
    if cells["family"] not in ("", kind.name):
        raise FieldError(f"family is {show(cells['family'])}; right would be rows of {kind.name} only")
    gpu = _device(cells["gpu"], given)
    dtype = dtype_of("dtype", cells["dtype"] or next(f.default for f in fields(kind.call_type) if f.name == "dtype"))
    gpu.math_pipe(dtype)
    asked = [cells[name] or getattr(given, name) for name in ("engine", "kernel")]
    names = [name_of(name, text) if text else None for name, text in zip(("engine", "kernel"), asked, strict=True)]
    engine, kernel = resolve(kind.name, dtype, gpu.compute_capability, *names)
    version, kernel_source = cells["version"] or UNKNOWN, asked[1] or kernel
    return (gpu.key, kind.name, engine, version, kernel, kernel_source, dtype.value, source), gpu


def _device(name: str, given: Given) -> GPU:
    """The GPU of a cell, else the one that is given.

    Raises:
        FieldError, UnknownNameError: there is none, or none of that name.
    """
    if name:
        return hardware.gpu(name)
    if given.gpu is None:
        raise FieldError("gpu is empty, and none is given for all rows; right would be a key such as h100_sxm")
    return given.gpu


def _each(batch: Batch, column: str, parse: Callable[[str, Any], _T]) -> list[_T]:
    """Every cell of a column, parsed; where there is no such column, every cell is empty.

    Raises:
        FileFormatError: naming file, row and column.
    """
    parsed = []
    for row, cell in enumerate(batch.columns.get(column, [None] * batch.size)):
        try:
            parsed.append(parse(column, cell))
        except FieldError as wrong:
            raise FileFormatError(f"{batch.name} {batch.place(row)}: {wrong}") from None
    return parsed
