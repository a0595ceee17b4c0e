"""Parquet files and polars DataFrames: the one module that needs the extra [tables]."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import polars as pl

from ..errors import FileFormatError, PerfError
from .batch import Batch, Cells
from .cleanup import uninterrupted
from .headings import FILLED
from .outfile import parts_folder
from .results import as_text, fill, flat, merge, typed_columns

_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_PLAIN = ({str}, {bool}, {int}, {float}, {int, float})  # types that one column of a DataFrame holds


class _Columns(Mapping[str, Cells]):
    """The columns of a DataFrame, turned into cells when first asked for."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame
        self._cells: dict[str, Cells] = {}

    def __getitem__(self, name: str) -> Cells:
        if name not in self._cells:
            if name not in self._frame.columns:
                raise KeyError(name)
            self._cells[name] = _cells(self._frame[name])
        return self._cells[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frame.columns)

    def __len__(self) -> int:
        return self._frame.width


def _cells(series: pl.Series) -> Cells:
    is_number = series.dtype.is_integer() or series.dtype.is_float()
    cells: Cells = series.to_numpy() if is_number and series.null_count() == 0 else series.to_list()
    return cells


def read(path: Path, name: str, size: int) -> Iterator[Batch]:
    """Batches of at most `size` rows, at least one.

    Raises:
        FileFormatError: not a parquet file.
    """
    scan = _asked(name, lambda: pl.scan_parquet(path, glob=False))
    total = _asked(name, lambda: scan.select(pl.len()).collect().item())
    for start in range(0, max(total, 1), size):
        yield batch_of(_asked(name, partial(_collect, scan, start, size)), name, start + 1)


def _collect(scan: pl.LazyFrame, start: int, size: int) -> pl.DataFrame:
    return scan.slice(start, size).collect()


def _asked(name: str, question: Callable[[], Any]) -> Any:
    """What polars answers.

    Raises:
        FileFormatError: it fails or panics.
    """
    try:
        with _hushed():
            return _once_interrupted(question)
    except _FAILURES as error:
        raise FileFormatError(f"{name} is not a parquet file: {_reason(error)}") from error


def _written(action: Callable[[], Any]) -> None:
    """Lets polars write.

    Raises:
        PerfError: it fails or panics: the disk is full, or parts do not go together.
    """
    try:
        with _hushed():
            _once_interrupted(action)
    except (*_FAILURES, OSError) as error:
        raise PerfError(f"out: the parquet file could not be written: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """The first line, or the system's own words; a temporary name says nothing to the user."""
    system = getattr(error, "strerror", None)
    return str(system or str(error).partition("\n")[0].partition(": /")[0])


def _once_interrupted(action: Callable[[], Any]) -> Any:
    """What the action returns. One Ctrl-C is one KeyboardInterrupt: polars raises its own before Python's comes."""
    try:
        return action()
    except KeyboardInterrupt:
        sleep(0)  # Python's comes here, if it comes
        raise


@contextmanager
def _hushed() -> Iterator[None]:
    """Keeps standard error quiet, where threads of polars print that they panic before the error is raised."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        uninterrupted(lambda: os.dup2(kept, 2))
        os.close(kept)
        os.close(nothing)


def batch_of(frame: pl.DataFrame, name: str, first_row: int = 1) -> Batch:
    """A DataFrame as a batch."""
    return Batch(
        name=name, columns=_Columns(frame), size=frame.height, place=lambda i: f"row {first_row + i}", rows=frame
    )


def frame_of(batch: Batch, answers: Mapping[str, Cells]) -> pl.DataFrame:
    """The batch with its results as columns. Those of a DataFrame keep their types; of text, number fields get one."""
    results = {name: flat(name, cells) for name, cells in answers.items()}
    if not isinstance(batch.rows, pl.DataFrame):
        columns = typed_columns(merge(batch, results), answers["family"])
        return pl.DataFrame([_series(name, cells) for name, cells in columns.items()])
    filled = {name: fill(batch.columns[name], results[name]) for name in FILLED if name in batch.columns}
    fresh = {name: cells for name, cells in results.items() if name not in batch.columns}
    return batch.rows.with_columns([_series(name, cells) for name, cells in (filled | fresh).items()])


def _series(name: str, cells: Cells) -> pl.Series:
    kinds = set(map(type, cells)) - {type(None)} if isinstance(cells, list | tuple) else {float}
    if kinds and kinds not in _PLAIN:
        return pl.Series(name, as_text(cells))
    try:
        return pl.Series(name, cells, strict=False)
    except OverflowError:  # a whole number beyond 64 bits
        return pl.Series(name, as_text(cells))


class Writer:
    """Parts of a parquet file, put together at the end, so that no more than a batch is in memory.

    They lie in the folder beside it that `replacing` removes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[Path] = []

    def __enter__(self) -> Writer:
        self._folder = parts_folder(self._path)
        self._folder.mkdir()
        return self

    def write(self, batch: Batch, answers: Mapping[str, Cells]) -> None:
        """One part."""
        part = self._folder / f"{len(self._parts)}.parquet"
        frame = frame_of(batch, answers)
        _written(lambda: frame.write_parquet(part))
        self._parts.append(part)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            _written(self._join)

    def _join(self) -> None:
        scans = [pl.scan_parquet(part, glob=False) for part in self._parts]
        pl.concat(scans, how="diagonal_relaxed").sink_parquet(self._path)
