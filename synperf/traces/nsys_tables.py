"""The tables of an Nsight Systems export: which there are, under which names and columns, and their rows in batches.

A table without rows is not in the file; some have a version behind their name (`_V2`); columns grew from 2.x to 3.x.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .events import Column

MAGIC = b"SQLite format 3\0"
ABSENT = -(2**62)  # stands where a row has no whole number
_KINDS = ("table", "view", "index", "trigger")  # of what a database holds
_BATCH = 2**14  # rows
_VERSION = re.compile(r"(.+?)_V(\d+)")
_PAGE_SIZE, _PAGES = slice(16, 18), slice(28, 32)  # bytes of the header, big-endian


class Tables:
    """An export, open for reading only. `damaged` are tables whose rows could not all be read."""

    def __init__(self, path: Path) -> None:
        self.damaged: list[str] = []
        self._file = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        self._file.text_factory = lambda text: text.decode("utf-8", "replace")
        self._names: dict[str, str] = {}
        self._strings: dict[int, str] = {}
        try:
            self._file.execute("PRAGMA writable_schema = ON")  # a file that ends early is read as far as it goes
            self._find()
        except sqlite3.Error:
            self._file.close()
            raise

    def _find(self) -> None:
        """Names of tables by their names without a version; of several versions the last one."""
        found = []
        for name, kind, sql in self._file.execute("SELECT name, type, sql FROM sqlite_master"):
            if kind not in _KINDS or not isinstance(name, str) or (sql is not None and name not in str(sql)):
                self.damaged.append(str(name))
            if kind not in _KINDS[:2] or not isinstance(name, str):
                continue
            match = _VERSION.fullmatch(name)
            found.append((int(match[2]) if match else 1, match[1] if match else name, name))
        self._names = {stem: name for _, stem, name in sorted(found)}

    def __contains__(self, table: str) -> bool:
        return table in self._names

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def columns(self, table: str) -> set[str]:
        """Names of its columns; none where the table is absent."""
        if table not in self:
            return set()
        return {row[1] for row in self._found(table, f"PRAGMA table_info({_quoted(self._names[table])})")}

    def rows(self, table: str, columns: Sequence[str], text: str = "") -> Iterator[tuple[Column, list[str | None]]]:
        """Whole numbers of these columns, ABSENT where there is none, and the text of one more, batch by batch."""
        there = self.columns(table)
        picked = [name for name in (*columns, text) if name in there]
        if not picked:
            self.damaged += [table] if table in self else []
            return
        places = [columns.index(name) for name in picked if name != text]
        found = self._found(table, f"SELECT {', '.join(map(_quoted, picked))} FROM {_quoted(self._names[table])}")
        while batch := list(islice(found, _BATCH)):
            numbers = np.full((len(batch), len(columns)), ABSENT)
            values = list(zip(*batch, strict=True))
            for place, column in zip(places, values, strict=False):
                numbers[:, place] = _whole(column)
            yield numbers, list(values[-1]) if text in there else [None] * len(batch)

    def _found(self, table: str, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows, up to where the file is damaged."""
        try:
            yield from self._file.execute(query)
        except sqlite3.Error:
            self.damaged.append(table)

    def pairs(self, table: str, key: str, value: str) -> dict[object, str]:
        """A small table of two columns; empty where it or one of them is absent."""
        if not {key, value} <= self.columns(table):
            return {}
        query = f"SELECT {_quoted(key)}, {_quoted(value)} FROM {_quoted(self._names[table])}"
        return {found: str(text) for found, text in self._found(table, query)}

    def string(self, number: int) -> str:
        """The text of an id in `StringIds`, the empty one where there is none."""
        if number not in self._strings:
            self._strings[number] = self._looked_up(number)
        return self._strings[number]

    def _looked_up(self, number: int) -> str:
        if "StringIds" not in self:
            return ""
        query = f"SELECT value FROM {_quoted(self._names['StringIds'])} WHERE id = {number:d}"
        return next((str(text) for (text,) in self._found("StringIds", query)), "")


def missing_share(path: Path) -> float:
    """The share of the database that the file lacks, by the size that its own header says."""
    with path.open("rb") as file:
        head = file.read(_PAGES.stop)
    page = int.from_bytes(head[_PAGE_SIZE], "big")
    whole = int.from_bytes(head[_PAGES], "big") * (2**16 if page == 1 else page)  # 1 stands for 64 KiB
    return max(0.0, 1 - path.stat().st_size / whole) if whole else 0.0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _whole(column: Sequence[Any]) -> Any:
    """The numbers of a column; a value that is none, or a fraction that no number of 64 bits holds, is ABSENT."""
    try:
        return np.array(column, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return [value if isinstance(value, int) else ABSENT for value in column]
