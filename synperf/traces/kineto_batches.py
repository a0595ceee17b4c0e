"""Runs of Kineto's events, of which fields are asked: as decoded objects, or as columns (`kineto_columns.py`).

Both give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from .decimals import scaled
from .events import Column
from .kineto_columns import PLACES, Columns, renumbered
from .kineto_events import NOTHING, Args, Event, Value
from .kineto_fields import FIELDS, HALVES, OF_EVENT
from .kineto_kinds import Kinds
from .loose import number

_OWN = {one.name for one in OF_EVENT}
_FEW = 2**12  # numbers: there is room for all that may be
_read: Callable[[bytes], Value] = msgspec.json.Decoder(Value).decode
_events: Callable[[Any], list[Event]] = msgspec.json.Decoder(list[Event]).decode


class Decoded:
    """Events as objects."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def _args(self) -> list[Args]:
        return [event.args for event in self.events]

    def taken(self, rows: Column) -> Decoded:
        """The events of these rows."""
        return Decoded([self.events[row] for row in rows.tolist()])

    def kinds(self, known: Kinds) -> Column:
        """The kind of each event."""
        found = map(known.__getitem__, [(one.ph, one.cat) for one in self.events])
        return np.frombuffer(bytes(found), dtype=np.uint8)

    def halves(self) -> list[Event]:
        """Events whose begin and end stand apart."""
        return [event for event in self.events if event.ph in HALVES]

    def values(self, name: str) -> list[Any]:
        """What each event has in a field of its own or of its arguments."""
        return list(map(attrgetter(name), self.events if name in _OWN else self._args))

    def has(self, name: str) -> Column:
        """Whether each event has something in a field."""
        if FIELDS[name].is_raw:
            return np.array([value is not NOTHING for value in self.values(name)], dtype=bool)
        missing = FIELDS[name].missing
        return np.array([value != missing for value in self.values(name)], dtype=bool)

    def scaled(self, name: str) -> Column:
        """Decimals times 10**PLACES; `decimals.NONE` where there is none."""
        return scaled(self.values(name), PLACES)

    def whole(self, name: str) -> Column:
        """Whole numbers of 64 bits; what is none is -1."""
        return ints(self.values(name))

    def numbered(self, name: str, known: Mapping[Any, int]) -> Column:
        """The number that `known` has of each value, asked in the order of the events.

        Undecoded values are bytes, of what is not there none.
        """
        values = self.values(name)
        if FIELDS[name].is_raw:
            values = _undecoded(values)
        return np.fromiter(map(known.__getitem__, values), np.int64, len(values))


class Known(dict[bytes, Value]):
    """What texts of JSON stand for; the runs of a file have mostly the same ones."""

    def __missing__(self, token: bytes) -> Value:
        is_plain = token[0] == ord('"') and b"\\" not in token
        self[token] = found = token[1:-1].decode() if is_plain else _read(token)
        return found


class Scanned:
    """Events as columns, some rows of them where `chosen` says which."""

    def __init__(
        self, columns: Columns, known: Known, chosen: Column | None = None, values: dict[str, list[Any]] | None = None
    ) -> None:
        self.columns = columns
        self.known = known
        self.chosen = chosen
        self._values: dict[str, list[Any]] = {} if values is None else values  # of columns that have codes

    def __len__(self) -> int:
        return self.columns.rows if self.chosen is None else len(self.chosen)

    def taken(self, rows: Column) -> Scanned:
        return Scanned(self.columns, self.known, rows if self.chosen is None else self.chosen[rows], self._values)

    def kinds(self, known: Kinds) -> Column:
        phases, phase = self._alike("ph")
        categories, category = self._alike("cat")
        pairs, of = _distinct(phase.astype(np.int64) * len(categories) + category, len(phases) * len(categories))
        found = [known[phases[pair // len(categories)], categories[pair % len(categories)]] for pair in pairs]
        return np.array(found, dtype=np.uint8)[of]

    def halves(self) -> list[Event]:
        text = self.columns.text
        return [event for event in _events(b"".join((b"[", text, b"]"))) if event.ph in HALVES] if text else []

    def values(self, name: str) -> list[Any]:
        numbers = self._numbers(name)
        if numbers is not None:
            return list(numbers.tolist())
        found, of = self._alike(name)
        return [found[place] for place in of.tolist()]

    def has(self, name: str) -> Column:
        numbers = self._numbers(name)
        if numbers is not None:
            is_there: Column = numbers != FIELDS[name].missing
            return is_there
        missing = FIELDS[name].missing
        found, of = self._alike(name)
        return np.array([value != missing for value in found], dtype=bool)[of]

    def scaled(self, name: str) -> Column:
        numbers = self._numbers(name)
        if numbers is not None:
            return numbers
        found, of = self._alike(name)
        return scaled(found, PLACES)[of]

    def whole(self, name: str) -> Column:
        numbers = self._numbers(name)
        if numbers is not None:
            return numbers
        found, of = self._alike(name)
        return ints(found)[of]

    def numbered(self, name: str, known: Mapping[Any, int]) -> Column:
        found, of = self._alike(name)
        numbers: Column = np.fromiter(map(known.__getitem__, found), np.int64, len(found))
        return numbers[of]

    def _numbers(self, name: str) -> Column | None:
        """Numbers of 64 bits, of a column that has them."""
        column = self.columns.of[name]
        if not isinstance(column, bytes):
            return None
        numbers = np.frombuffer(column, dtype=np.int64)
        return numbers if self.chosen is None else numbers[self.chosen]

    def _alike(self, name: str) -> tuple[list[Any], Column]:
        """The different values of a field, as they come, and which of them each event has."""
        column = self.columns.of[name]
        if column is None or not len(self):
            return [FIELDS[name].missing], np.zeros(len(self), dtype=np.int32)
        values = self._values.get(name)
        if values is None:
            self._values[name] = values = self._decoded(name, column[1])
        codes = np.frombuffer(column[0], dtype=np.int32)
        if self.chosen is None:
            return values, codes
        used, of = _renumbered(codes[self.chosen], len(values))
        return [values[place] for place in used], of

    def _decoded(self, name: str, values: Sequence[bytes]) -> list[Any]:
        """What stands for values: bytes of those that stay undecoded, of what is not there none."""
        if FIELDS[name].is_raw:
            return list(values)
        known, missing = self.known, FIELDS[name].missing
        return [known[value] if value else missing for value in values]


Batch = Decoded | Scanned


def _distinct(numbers: Column, count: int) -> tuple[list[int], Column]:
    """The different ones of numbers below `count`, and which of them each is."""
    if count <= _FEW:
        return _renumbered(numbers.astype(np.int32), count)
    found, of = np.unique(numbers, return_inverse=True)
    return found.tolist(), np.ravel(of)


def _renumbered(codes: Column, count: int) -> tuple[list[int], Column]:
    """The different ones of codes below `count`, as they come, and which of them each is."""
    of, used = (np.frombuffer(one, dtype=np.int32) for one in renumbered(codes, count))
    return used.tolist(), of


def _undecoded(raws: Sequence[Raw]) -> list[bytes]:
    """The texts of values; all at once takes a fifth of the time that `bytes` takes for one after the other."""
    found = b"\0".join(raws).split(b"\0")
    return found if len(found) == len(raws) else list(map(bytes, raws))  # no raws, or a NUL in one of them


def ints(values: Sequence[Any]) -> Column:
    """Whole numbers of 64 bits; what is none is -1."""
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([number(value) for value in values], dtype=np.int64)
