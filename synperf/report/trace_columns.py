"""Columns and tables of raw values, each with how it is shown, that text, Markdown and the page share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..light_classes import dataclass
from ..units import format_percent, format_quantity, format_time
from .text import printable

_NS = 1e-9


@dataclass(frozen=True, slots=True)
class Column:
    """`show` makes text of a value. Numbers are aligned to the right; names may be cut where room is short."""

    head: str
    show: Callable[[Any], str]
    is_number: bool = True
    is_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of values, one for each column, in the order in which they are to be read. `note` says how."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(column.head for column in self.columns)

    @property
    def right(self) -> tuple[str, ...]:
        return tuple(column.head for column in self.columns if column.is_number)

    def filled(self) -> Table:
        """The table without columns in which no row has a value."""
        kept = [at for at in range(len(self.columns)) if any(row[at] not in (None, "") for row in self.rows)]
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=rows)

    def shown(self, most: int | None = None) -> list[tuple[str, ...]]:
        """The first rows as text."""
        return [tuple(c.show(v) for c, v in zip(self.columns, row, strict=True)) for row in self.rows[:most]]


def time(value_ns: float | None) -> str:
    """Nanoseconds with a prefix; what is not known is empty."""
    return "" if value_ns is None else format_time(value_ns * _NS)


def share(value: float | None) -> str:
    """A ratio as a percentage; what is not known is empty."""
    return "" if value is None else format_percent(value)


def count(value: int | None) -> str:
    """A whole number; what is not known is empty."""
    return "" if value is None else f"{value:,}"


def words(value: Any) -> str:
    """Text on one line; what is not known is empty."""
    return "" if value is None else printable(str(value))


def size(value: float | None) -> str:
    """Bytes with a prefix; what is not known is empty."""
    return "" if value is None else format_quantity(value, "B")


def rate(value: float | None) -> str:
    """Bytes per second with a prefix; what is not known is empty."""
    return "" if value is None else format_quantity(value, "B/s")


def words_of(head: str, show: Callable[[Any], str] = words) -> Column:
    """A column of text."""
    return Column(head, show, is_number=False)


def name(head: str) -> Column:
    """A column of names, which may be long."""
    return Column(head, words, is_number=False, is_name=True)


RANK, DEVICE = Column("rank", words), Column("device", words)
