"""CSV: UTF-8, a header line, commas, quotes doubled inside quotes. Cells are text and stay as they are."""

from __future__ import annotations

import csv
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, BinaryIO

from ..csv_cells import too_long
from ..errors import FileFormatError
from .batch import Batch, Cells
from .results import as_text, flat, merge

_QUOTED = (",", '"', "\n", "\r")


def read(path: Path, name: str, size: int) -> Iterator[Batch]:
    """Batches of at most `size` rows, at least one; blank lines are left out.

    Raises:
        FileFormatError: no header, a column twice, a row of another length, broken quotes, a cell that is too long, or
            not UTF-8.
    """
    with path.open("rb") as file:
        yield from read_stream(file, name, size)


def read_stream(file: BinaryIO, name: str, size: int) -> Iterator[Batch]:
    """As `read`, from an open file."""
    lines, header = _Lines(file), list[str]()
    reader = csv.reader(lines, strict=True)
    try:
        header = _header(next(reader, []), name)
        row = 1
        while True:
            line = lines.forget()
            read_rows = list(islice(reader, size))
            rows = [cells for cells in read_rows if cells] if [] in read_rows else read_rows
            if rows or row == 1:
                yield _batch(name, header, rows, row, line, read_rows)
            if len(read_rows) < size:
                return
            row += len(rows)
    except csv.Error as error:
        if (found := too_long(lines.held, header)) is not None:
            raise FileFormatError(f"{name} line {lines.first + found[0] - 1}: {found[1]}") from None
        reason = str(error).partition(" - ")[0]  # what follows is advice to programmers
        raise FileFormatError(f"{name} line {reader.line_num}: not CSV: {reason}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{name} line {reader.line_num + 1}: not UTF-8 text") from error


class _Lines:
    """Lines decoded one by one, so that an error is in the line that it is said to be in.

    Those since `forget` are `held`, of which the first has the number `first`.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.held, self.first = file, list[str](), 1

    def __iter__(self) -> Iterator[str]:
        hold = self.held.append
        line = self._file.readline().removeprefix(BOM_UTF8).decode()
        hold(line)
        yield line
        for data in self._file:
            line = data.decode()
            hold(line)
            yield line

    def forget(self) -> int:
        """The number of the next line."""
        self.first += len(self.held)
        self.held.clear()
        return self.first


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    if not any(header):
        raise FileFormatError(f"{name} has no header line; the first line must name the columns, such as family,m,n,k")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise FileFormatError(f"{name} line 1: column {twice[0]!r} is there twice")
    return header


def _batch(
    name: str, header: list[str], rows: list[list[str]], row: int, line: int, read_rows: list[list[str]]
) -> Batch:
    def place(i: int) -> str:
        lines = accumulate((1 + sum(cell.count("\n") for cell in cells) for cells in read_rows), initial=line)
        starts = [start for start, cells in zip(lines, read_rows, strict=False) if cells]
        return f"row {row + i} (line {starts[i]})"

    if set(map(len, rows)) - {len(header)}:
        i = next(i for i, cells in enumerate(rows) if len(cells) != len(header))
        raise FileFormatError(f"{name} {place(i)}: {len(rows[i])} cells, but the header has {len(header)}")
    columns: list[Cells] = list(zip(*rows, strict=True)) if rows else [[] for _ in header]
    return Batch(name=name, columns=dict(zip(header, columns, strict=True)), size=len(rows), place=place)


class Writer:
    """Appends batches and their answers to a new file; the first batch decides the columns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: list[str] = []

    def __enter__(self) -> Writer:
        self._file = self._path.open("x", encoding="utf-8", newline="")
        return self

    def write(self, batch: Batch, answers: Mapping[str, Cells]) -> None:
        """One batch, after the header if it is the first.

        Raises:
            FileFormatError: a column that the first batch did not have.
        """
        columns = merge(batch, {name: flat(name, cells) for name, cells in answers.items()})
        if not self._names:
            self._names = list(columns)
            self._file.write(",".join(_quoted(self._names)) + "\n")
        late = [name for name in columns if name not in self._names]
        if late:
            place = f"{batch.name} {batch.place(0)}"
            raise FileFormatError(f"{place}: {late[0]!r} is new here, too late for a CSV; write .jsonl")
        blank = [""] * batch.size
        cells = [_quoted(as_text(columns[name])) if name in columns else blank for name in self._names]
        self._file.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))

    def __exit__(self, *_: Any) -> None:
        self._file.close()


def _quoted(cells: list[str]) -> list[str]:
    """Cells in quotes where they hold a comma, a quote or a line end."""
    text = "".join(cells)
    if not any(mark in text for mark in _QUOTED):
        return cells
    found = {cell: _quote(cell) for cell in set(cells)}  # results repeat
    return [found[cell] for cell in cells]


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in _QUOTED) else cell
