"""A user's own table of measured calls: CSV, JSON lines or parquet. docs/measurements.md lists its columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .. import hardware
from ..errors import FieldError, FileFormatError, PerfError
from ..hardware import GPU, DType
from ..hardware.fields import show
from ..kernels import KernelFamily
from ..kernels.dispatch import measured_engine, resolve
from ..kernels.fields import MAX_EXTENT, dtype_of, name_of, whole
from ..numeric import concatenated
from ..tables.batch import Batch, is_empty, one_value
from .audit import FileAudit, Reading
from .columns import BIASED, IS_TEST, L2, check_columns, ignored, texts, time_column
from .merging import label as label_of
from .merging import merged
from .plausible import UNITS_S
from .schema import MAY_BE_ZERO, MOST, SAME_AS, Rows, labels_of, numbers_of
from .selecting import COLD, is_cold, of_family

UNKNOWN = "unknown"  # version of a row that names none
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False, "none": False}
MOST_S = 1e6  # no kernel takes longer
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What rows are that do not say it themselves."""

    gpu: GPU | None = None
    engine: str | None = None
    kernel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The rows of one batch: columns of one length. A label has a value for each name of `merging.label`."""

    numbers: np.ndarray  # a row for each measurement, a column for each number field
    time_s: np.ndarray
    is_test: np.ndarray
    biased: np.ndarray
    is_cold: np.ndarray
    labels: np.ndarray
    devices: dict[str, GPU]  # by key


def read(batches: Iterable[Batch], kind: KernelFamily, name: str, given: Given) -> Reading:
    """The rows of a family in a file, duplicates merged; where some were timed with a warm L2, no others.

    Raises:
        FileFormatError: a column or a row is not what it should be; the message names file, row and column.
    """
    parts, others, unread = list[_Part](), list[FileAudit](), tuple[str, ...]()
    for every in batches:
        batch, left = of_family(every, kind)
        others += [_audit_of_other(every, family, rows, name) for family, rows in left.items()]
        try:
            times, unit = time_column(every.columns)
            if left and not batch.size:
                continue
            check_columns(batch.columns, kind)
        except FieldError as wrong:
            raise FileFormatError(f"{name}: {wrong}") from None
        parts.append(_part(batch, kind, given, times, UNITS_S[unit]))
        unread = ignored(batch.columns, kind, times)
    rows, audits = _of_parts(parts, kind, name, unread)
    devices = {key: gpu for part in parts for key, gpu in part.devices.items()}
    return Reading(rows=rows, audits=(*audits, *others), devices=devices, times=times, unit=unit)


def _of_parts(
    parts: list[_Part], kind: KernelFamily, name: str, unread: tuple[str, ...]
) -> tuple[Rows | None, list[FileAudit]]:
    """The rows of all batches, or None where all are of other families, and an audit for each GPU."""
    if not parts:
        return None, []
    columns = concatenated(parts)
    if not len(columns["time_s"]):
        raise FileFormatError(f"{name}: there are no rows under the header")
    cold = columns["is_cold"] & bool((~columns["is_cold"]).any())
    flushed = Counter(label[0] for label in columns["labels"][cold])  # by GPU
    rows = _rows({key: column[~cold] for key, column in columns.items()}, kind)
    return rows, [_audit(part, name, gpu, flushed[gpu], unread) for (gpu,), part in rows.groups("gpu")]


def _audit(rows: Rows, name: str, gpu: str, cold: int, unread: tuple[str, ...]) -> FileAudit:
    measured = int(rows.samples.sum())
    dropped = {COLD: cold} if cold else {}
    return FileAudit(
        source=name, gpu=gpu, rows=measured + cold, kept=measured, keys=len(rows), dropped=dropped, ignored=unread
    )


def _audit_of_other(batch: Batch, family: str, rows: np.ndarray, name: str) -> FileAudit:
    every = _texts(batch, "gpu")
    gpus = sorted({every[row] for row in rows.tolist()})
    dropped = {f"are of {family}": len(rows)}
    return FileAudit(source=name, gpu=", ".join(gpus), rows=len(rows), kept=0, keys=0, dropped=dropped)


def _rows(columns: dict[str, np.ndarray], kind: KernelFamily) -> Rows:
    by_label = defaultdict(list)
    for row, label in enumerate(columns["labels"]):
        by_label[label].append(row)
    return Rows.join([_merged(columns, np.array(by_label[label]), label, kind) for label in sorted(by_label)])


def _merged(columns: dict[str, np.ndarray], rows: np.ndarray, label: tuple[Any, ...], kind: KernelFamily) -> Rows:
    return merged(
        dict(zip(label_of(kind.name), label, strict=True)),
        dict(zip(numbers_of(kind.name), columns["numbers"][rows].T, strict=True)),
        columns["time_s"][rows],
        columns["is_test"][rows],
        columns["biased"][rows],
    )


def _part(batch: Batch, kind: KernelFamily, given: Given, times: str, unit_s: float) -> _Part:
    defaults = {f.name: f.default for f in fields(kind.call_type)}
    numbers: dict[str, np.ndarray] = {}
    for field in numbers_of(kind.name):
        other = numbers.get(SAME_AS.get(field, ""))
        numbers[field] = _sizes(batch, field, defaults[field], kind) if other is None else _or(batch, field, other)
    found, labels = _labels(batch, kind, given, numbers), np.empty(batch.size, dtype=object)
    labels[:] = [label for label, _ in found]
    return _Part(
        numbers=np.stack(list(numbers.values()), axis=1),
        time_s=np.array(_each(batch, times, partial(_time_s, unit_s=unit_s)), dtype=np.float64),
        is_test=_truths(batch, IS_TEST),
        biased=_truths(batch, BIASED),
        is_cold=np.array(_each(batch, L2, is_cold), dtype=bool),
        labels=labels,
        devices={gpu.key: gpu for _, gpu in found},
    )


def _sizes(batch: Batch, field: str, default: Any, kind: KernelFamily) -> np.ndarray:
    """A number field as whole numbers; cells without a value are the default, where there is one."""
    fallback = None if field in kind.required() else default

    def size(field: str, cell: Any) -> int:
        value = fallback if is_empty(cell) and fallback is not None else one_value(cell)
        return (
            0
            if field in MAY_BE_ZERO and str(value).strip() == "0"
            else int(whole(field, value, MOST.get(field, MAX_EXTENT)))
        )

    numbers = batch.array(field) if field in batch.columns else None
    if numbers is not None and numbers.dtype.kind in "iuf" and len(numbers):
        try:
            return np.asarray(whole(field, numbers, MOST.get(field, MAX_EXTENT)), dtype=np.int64)
        except FieldError:
            pass  # which row it is, is found below
    return np.array(_each(batch, field, size), dtype=np.int64)


def _or(batch: Batch, field: str, other: np.ndarray) -> np.ndarray:
    """A number field that is `other` in rows without a value."""
    cells = batch.columns.get(field, [None] * batch.size)
    filled = [int(size) if is_empty(cell) else cell for cell, size in zip(cells, other, strict=True)]

    def size(field: str, cell: Any) -> int:
        return int(whole(field, one_value(cell)))

    return np.array(_each(replace(batch, columns={field: filled}), field, size), dtype=np.int64)


def _time_s(column: str, cell: Any, *, unit_s: float) -> float:
    """A positive number of units, in seconds.

    Raises:
        FieldError: it is not, or longer than any kernel takes.
    """
    try:
        number = float(cell) if not isinstance(cell, bool) and "_" not in str(cell) else 0.0
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not (number * unit_s > 0 and number < np.inf):
        raise FieldError(f"{column} must be a positive number, got {show(cell)}")
    if number * unit_s > MOST_S:
        raise FieldError(f"{column} must be at most {MOST_S:g} seconds, which no kernel takes, got {show(cell)}")
    return number * unit_s


def _truths(batch: Batch, column: str) -> np.ndarray:
    """A column of truth values; without it every row is false."""
    found = _each(batch, column, _truth) if column in batch.columns else [False] * batch.size
    return np.array(found, dtype=bool)


def _truth(column: str, cell: Any) -> bool:
    """A truth value; an empty one is false.

    Raises:
        FieldError: it is not.
    """
    text = str(one_value(cell)).strip().lower()
    if text not in _TRUTHS:
        raise FieldError(f"{column} must be true or false, got {show(cell)}")
    return _TRUTHS[text]


def _labels(
    batch: Batch, kind: KernelFamily, given: Given, numbers: Mapping[str, np.ndarray]
) -> list[tuple[tuple[Any, ...], GPU]]:
    """The label and the GPU of every row; rows of equal cells share them."""
    known: dict[tuple[str, ...], tuple[tuple[Any, ...], GPU]] = {}
    columns = {column: _texts(batch, column) for column in texts(kind)}
    for name, decisive in kind.by_one:
        own = (numbers[decisive] == 1).astype(str).tolist()
        columns[name] = [cell or default for cell, default in zip(columns[name], own, strict=True)]
    labels = []
    for row, cells in enumerate(zip(*columns.values(), strict=True)):
        if cells not in known:
            try:
                known[cells] = _label(dict(zip(texts(kind), cells, strict=True)), kind, given, batch.name)
            except PerfError as wrong:
                raise FileFormatError(f"{batch.name} {batch.place(row)}: {wrong}") from None
        labels.append(known[cells])
    return labels


def _texts(batch: Batch, column: str) -> list[str]:
    """The cells of a column as text without surrounding spaces; empty where there is no such column."""
    if column not in batch.columns:
        return [""] * batch.size
    return ["" if is_empty(cell) else str(one_value(cell)).strip() for cell in batch.columns[column]]


def _label(cells: dict[str, str], kind: KernelFamily, given: Given, source: str) -> tuple[tuple[Any, ...], GPU]:
    """The values of a label that the cells stand for, and the GPU.

    What is missing is what `predict` would take.

    Raises:
        FieldError, UnknownNameError, UnsupportedError: naming what is wrong.
    """
    if cells["family"] not in ("", kind.name):
        raise FieldError(f"family is {show(cells['family'])}; right would be {kind.name}, or another family's name")
    gpu, own = _device(cells["gpu"], given), _own(cells, kind)
    dtype = own["dtype"]
    if not kind.is_memory_bound:
        gpu.math_pipe(dtype)
    asked = [cells[name] or getattr(given, name) for name in ("engine", "kernel")]
    names = [name_of(name, text) if text else None for name, text in zip(("engine", "kernel"), asked, strict=True)]
    if names == [None, None] and not kind.is_own:
        names[0] = measured_engine(kind.name, dtype, gpu.compute_capability)
    names[1] = names[1] or kind.default_kernel(names[0], own)
    engine, kernel = resolve(kind.name, dtype, gpu.compute_capability, *names)
    version, kernel_source = cells["version"] or UNKNOWN, asked[1] or kernel
    values = [str(value) if isinstance(value, str) else value for value in own.values()]
    return (gpu.key, kind.name, engine, version, kernel, kernel_source, *values, source), gpu


def _own(cells: dict[str, str], kind: KernelFamily) -> dict[str, Any]:
    """The fields of the family that a call holds one value of."""
    defaults = {f.name: f.default for f in fields(kind.call_type)}
    own: dict[str, Any] = {}
    truths = {name for name, _ in kind.by_one}
    for name in labels_of(kind.name):
        cell, default = cells[name], defaults.get(name)
        if name in ("dtype", *SAME_AS) or isinstance(default, DType):
            own[name] = dtype_of(name, cell or default or own[SAME_AS[name]])
        elif name in truths or isinstance(default, bool):
            own[name] = _truth(name, cell) if cell else default
        else:
            own[name] = cell.lower() or ("" if default is None else str(default))
    return own


def _device(name: str, given: Given) -> GPU:
    """The GPU of a cell, else the one that is given.

    Raises:
        FieldError, UnknownNameError: there is none, or none of that name.
    """
    if name:
        return hardware.gpu(name)
    if given.gpu is None:
        raise FieldError(
            "gpu is empty, and none is given for all rows; right would be a column gpu with a key such as h100_sxm, "
            "or --gpu NAME once"
        )
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
