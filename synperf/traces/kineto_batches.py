"""Runs of Kineto's events, of which columns are asked: as decoded objects, or as places in the text that has them.

Both give the same. Places are found by compiled code (`tokens.c`), in a fifth of the time that objects take, of text
that is strictly a list of events; everything else, and all where that code could not be compiled, is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from .decimals import NONE, scaled
from .events import Column
from .kineto_args import NOTHING, Args, Value
from .kineto_events import HALVES, Event, Kinds
from .loose import number

try:
    from . import _tokens
except ImportError:  # there was no compiler
    _tokens = None  # type: ignore[assignment]

_LETTERS = {"str": "s", "Value": "v", "Raw": "r"}  # types of fields, as `scan` has them
_OF_EVENT = tuple(name for name in Event.__struct_fields__ if name != "args")
_NAMES = (*_OF_EVENT, *Args.__struct_fields__)
_PLACE = {name: place for place, name in enumerate(_NAMES)}
_MISSING = {name: getattr(kind(), name) for kind in (Event, Args) for name in kind.__struct_fields__}
_OUTER, _INNER = (
    tuple(key.encode() for key in kind.__struct_encode_fields__ if key != "args") for kind in (Event, Args)
)
_TYPE_OF = {name: _LETTERS.get(kind, "") for one in (Event, Args) for name, kind in one.__annotations__.items()}
_TYPES = "".join(_TYPE_OF[name] for name in _NAMES).encode()
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
        return list(map(attrgetter(name), self.events if name in _OF_EVENT else self._args))

    def has(self, name: str) -> Column:
        """Whether each event has something in a field."""
        missing = _MISSING[name]
        if missing is NOTHING:
            return np.array([value is not NOTHING for value in self.values(name)], dtype=bool)
        return np.array([value != missing for value in self.values(name)], dtype=bool)

    def scaled(self, name: str, places: int) -> Column:
        """Decimals times 10**places; `decimals.NONE` where there is none."""
        return scaled(self.values(name), places)

    def whole(self, name: str) -> Column:
        """Whole numbers of 64 bits; what is none is -1."""
        return ints(self.values(name))

    def numbered(self, name: str, known: Mapping[Any, int]) -> Column:
        """The number that `known` has of each value, asked in the order of the events.

        Undecoded values are bytes, of what is not there none.
        """
        values = self.values(name)
        if _TYPE_OF[name] == "r":
            values = _undecoded(values)
        return np.fromiter(map(known.__getitem__, values), np.int64, len(values))


class Scanned:
    """Events as places in a text: of each field a begin and a length in one number, None where no event has it."""

    def __init__(
        self, text: memoryview, rows: int, places: Sequence[Column | None], chosen: Column | None = None
    ) -> None:
        self.text = text
        self.rows = rows
        self.places = places
        self.chosen = chosen  # rows; None are all

    def __len__(self) -> int:
        return self.rows

    def taken(self, rows: Column) -> Scanned:
        chosen = rows if self.chosen is None else self.chosen[rows]
        return Scanned(self.text, len(rows), self.places, chosen)

    def kinds(self, known: Kinds) -> Column:
        phases, phase = self._alike("ph")
        categories, category = self._alike("cat")
        pairs, of = np.unique(phase.astype(np.int64) * len(categories) + category, return_inverse=True)
        found = [known[phases[pair // len(categories)], categories[pair % len(categories)]] for pair in pairs.tolist()]
        return np.array(found, dtype=np.uint8)[np.ravel(of)]

    def halves(self) -> list[Event]:
        if not HALVES & set(self._alike("ph")[0]):
            return []
        return [event for event in _events(b"".join((b"[", self.text, b"]"))) if event.ph in HALVES]

    def values(self, name: str) -> list[Any]:
        found, of = self._alike(name)
        return [found[place] for place in of.tolist()]

    def has(self, name: str) -> Column:
        places = self._places(name)
        if places is None or _TYPE_OF[name] == "r":
            return np.zeros(len(self), dtype=bool) if places is None else places.view(np.int32)[::2] >= 0
        found, of = self._alike(name)
        return np.array([value != _MISSING[name] for value in found], dtype=bool)[of]

    def scaled(self, name: str, places: int) -> Column:
        at = self._places(name)
        if at is None:
            return np.full(len(self), NONE)
        found, is_plain = _tokens.scaled(self.text, at, places)
        return np.frombuffer(found, dtype=np.int64) if is_plain else scaled(self._texts(at), places)

    def whole(self, name: str) -> Column:
        at = self._places(name)
        if at is None:
            return np.full(len(self), _MISSING[name])
        found, is_plain = _tokens.whole(self.text, at, _MISSING[name])
        return np.frombuffer(found, dtype=np.int64) if is_plain else ints(self.values(name))

    def numbered(self, name: str, known: Mapping[Any, int]) -> Column:
        found, of = self._alike(name)
        numbers: Column = np.fromiter(map(known.__getitem__, found), np.int64, len(found))
        return numbers[of]

    def _places(self, name: str) -> Column | None:
        places = self.places[_PLACE[name]]
        return places if places is None or self.chosen is None else places[self.chosen]

    def _texts(self, places: Column) -> list[bytes]:
        pairs = places.view(np.int32).reshape(-1, 2).tolist()
        return [bytes(self.text[at : at + length]) if at >= 0 else b"" for at, length in pairs]

    def _alike(self, name: str) -> tuple[list[Any], Column]:
        """The different values of a field, as they come, and which of them each event has."""
        places, letter, missing = self._places(name), _TYPE_OF[name], _MISSING[name]
        if letter == "r":
            missing = b""
        if places is None or not len(places):
            return [missing], np.zeros(len(self), dtype=np.int32)
        of, first = (np.frombuffer(one, dtype=np.int32) for one in _tokens.alike(self.text, places))
        tokens = self._texts(places[first])
        return tokens if letter == "r" else [_value(token) if token else missing for token in tokens], of


Batch = Decoded | Scanned


def scanned(text: memoryview) -> Scanned | None:
    """The events of a text that has commas between them; None where they have to be decoded."""
    found = None if _tokens is None else _tokens.scan(text, _OUTER, _INNER, _TYPES, b"args")
    if found is None:
        return None
    rows, has_high, places = found
    if has_high and not _is_text(text):
        return None
    columns = [None if one is None else np.frombuffer(one, dtype=np.int64) for one in places]
    return Scanned(text, rows, columns)


def _is_text(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _value(token: bytes) -> Value:
    if token[0] == ord('"') and b"\\" not in token:
        return token[1:-1].decode()
    return _read(token)


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
