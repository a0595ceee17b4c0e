"""Columns of what stands in a run of Kineto's events, by compiled code (`tokens.c`), in a fifth of the time of objects.

They are had of text that is strictly a list of events, where that code could be compiled.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from .kineto_fields import FIELDS, HALVES, OF_ARGS, OF_EVENT

try:
    from ._tokens import Scanner as _Scanner
    from ._tokens import renumbered as _renumbered
except ImportError:  # there was no compiler, or what it made is of an earlier version
    is_compiled = False
else:
    is_compiled = True

PLACES = 3  # decimal places between µs, which the file has, and ns
_HALVES = {b'"%s"' % one.encode() for one in HALVES}
_PHASE = list(FIELDS).index("ph")
_OUTER, _INNER = (tuple(one.key.encode() for one in fields) for fields in (OF_EVENT, OF_ARGS))
_LETTERS = "".join(one.kind for one in FIELDS.values()).encode()
_NUMBERS = array("q", [one.missing if one.kind == "w" else 0 for one in FIELDS.values()])


class Columns:
    """Each has 64-bit numbers, or a code of each row and the bytes of each value; None where no event has the field.

    `text` is that of the events, where some of them have only a begin or an end.
    """

    def __init__(self, rows: int, columns: Sequence[Any], text: bytes) -> None:
        self.parts = rows, columns, text  # of which the same is made
        self.rows = rows
        self.of = dict(zip(FIELDS, columns, strict=True))
        self.text = text


class ColumnsReader:
    """Collects events as columns, text by text; where the code was compiled."""

    def __init__(self, rows: int) -> None:
        self._scanner = _Scanner(_OUTER, _INNER, _LETTERS, _NUMBERS, PLACES, b"args")
        self._rows = rows  # that are enough
        self._halves: list[bytes] = []  # texts with some

    def add(self, text: bytes) -> tuple[int, bool] | None:
        """Takes whole events: bytes that are done, and whether the list is closed; None of what is to be decoded."""
        found = self._scanner.add(text)
        if found is not None and not _HALVES.isdisjoint(self._scanner.values(_PHASE)):
            self._halves.append(text[: found[0] - 1])  # without the sign behind the last one
        return found

    def full(self) -> Iterator[Columns]:
        """The columns of the events so far, if they are enough."""
        if self._scanner.rows >= self._rows:
            yield from self.rest()

    def rest(self) -> Iterator[Columns]:
        """The columns of the events so far, if there are any."""
        if self._scanner.rows:
            yield Columns(*self._scanner.taken(), b",".join(self._halves))
            self._halves = []


def renumbered(codes: Any, count: int) -> tuple[bytes, bytes]:
    """int32 codes below `count` as they come: (int32 of each row, which code each new one is)."""
    return _renumbered(codes, count)
