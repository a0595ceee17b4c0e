"""CSV: UTF-8, a header line, commas, quotes doubled inside quotes. Cells are text and stay as they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from itertools import accumulate, islice
from pathlib import Path
from typing import BinaryIO

from ..errors import FileFormatError
from .batch import Batch, Cells
from .results import as_text, flat, merge

_LINE_END = re.compile(r"\r\n|\r|\n")


def read(path: Path, name: str, size: int) -> Iterator[Batch]:
    """Batches of at most `size` rows, at least one; blank lines are left out.

    Raises:
        FileFormatError: no header, a column twice, a row of another length, broken quotes, or not UTF-8.
    """
    with path.open("rb") as file:
        yield from read_stream(file, name, size)


def read_stream(file: BinaryIO, name: str, size: int) -> Iterator[Batch]:
    """As `read`, from an open file."""
    reader = csv.reader(TextIOWrapper(file, encoding="utf-8-sig", newline=""), strict=True)
    try:
        header = _header(next(reader, []), name)
        row = 1
        while True:
            line = reader.line_num + 1
            read_rows = list(islice(reader, size))
            rows = [cells for cells in read_rows if cells] if [] in read_rows else read_rows
            if rows or row == 1:
                yield _batch(header, rows, row, line, read_rows)
            if len(read_rows) < size:
                return
            row += len(rows)
    except csv.Error as error:
        raise FileFormatError(f"line {reader.line_num}: not CSV: {error}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"after line {reader.line_num}: not UTF-8 text") from error


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    if not any(header):
        raise FileFormatError(f"{name} has no header line; the first line must name the columns, such as family,m,n,k")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise FileFormatError(f"line 1: column {twice[0]!r} is there twice")
    return header


def _batch(header: list[str], rows: list[list[str]], row: int, line: int, read_rows: list[list[str]]) -> Batch:
    def place(i: int) -> str:
        lines = accumulate((1 + sum(len(_LINE_END.findall(c)) for c in cells) for cells in read_rows), initial=line)
        starts = [start for start, cells in zip(lines, read_rows, strict=False) if cells]
        return f"row {row + i} (line {starts[i]})"

    if set(map(len, rows)) - {len(header)}:
        i = next(i for i, cells in enumerate(rows) if len(cells) != len(header))
        raise FileFormatError(f"{place(i)}: {len(rows[i])} cells, but the header has {len(header)}")
    columns: list[Cells] = list(zip(*rows, strict=True)) if rows else [[] for _ in header]
    return Batch(columns=dict(zip(header, columns, strict=True)), size=len(rows), place=place)


class Writer:
    """Appends batches and their answers to an open file; the first batch decides the columns."""

    def __init__(self, file: BinaryIO) -> None:
        self._text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        self._csv = csv.writer(self._text, lineterminator="\n")
        self._names: list[str] = []

    def write(self, batch: Batch, answers: Mapping[str, Cells]) -> None:
        """One batch: the header before the first.

        Raises:
            FileFormatError: a column that the first batch did not have.
        """
        columns = merge(batch, {name: flat(name, cells) for name, cells in answers.items()})
        if not self._names:
            self._names = list(columns)
            self._csv.writerow(self._names)
        unknown = [name for name in columns if name not in self._names]
        if unknown:
            raise FileFormatError(f"{unknown[0]!r} appears after the columns are written; name the output .jsonl, which may vary")
        blank = [""] * batch.size
        self._csv.writerows(zip(*(as_text(columns[n]) if n in columns else blank for n in self._names), strict=True))

    def finish(self) -> None:
        """Writes what is held back and lets go of the file, which stays open."""
        self._text.flush()
        self._text.detach()
