"""Columns of what stands in a run of Kineto's events, by compiled code (`tokens.c`), in a fifth of the time of objects.

They are had of text that is strictly a list of events, where that code could be compiled.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from .kineto_args import Args
from .kineto_events import HALVES, Event

try:
    from ._tokens import renumbered as _renumbered
    from ._tokens import scan as _scan
except ImportError:  # there was no compiler, or what it made is of an earlier version
    is_compiled = False
else:
    is_compiled = True

OF_EVENT = tuple(name for name in Event.__struct_fields__ if name != "args")
NAMES = (*OF_EVENT, *Args.__struct_fields__)
MISSING = {name: getattr(kind(), name) for kind in (Event, Args) for name in kind.__struct_fields__}
PLACES = 3  # decimal places between µs, which the file has, and ns
_PHASE = NAMES.index("ph")
_OUTER, _INNER = (
    tuple(key.encode() for key in kind.__struct_encode_fields__ if key != "args") for kind in (Event, Args)
)
_TYPE_OF = {name: kind for one in (Event, Args) for name, kind in one.__annotations__.items()}


def _letter(name: str) -> str:
    """The type of a field, as `scan` has it."""
    if name in ("ts", "dur"):
        return "d"
    if _TYPE_OF[name] == "Value":
        return "w" if isinstance(MISSING[name], int) else "v"
    return {"str": "s", "Raw": "r"}[_TYPE_OF[name]]


_LETTERS = "".join(map(_letter, NAMES)).encode()
IS_RAW = {name: _TYPE_OF[name] == "Raw" for name in NAMES}
_NUMBERS = array("q", [MISSING[name] if _letter(name) == "w" else 0 for name in NAMES])


class Columns:
    """Each has 64-bit numbers, or a code of each row and the bytes of each value; None where no event has the field.

    `text` is that of the events, where some of them have only a begin or an end.
    """

    def __init__(self, rows: int, columns: Sequence[Any], text: bytes) -> None:
        self.parts = rows, columns, text  # of which the same is made
        self.rows = rows
        self.of = dict(zip(NAMES, columns, strict=True))
        self.text = text


def columns(text: memoryview) -> Columns | None:
    """The columns of events that have commas between them; None where they have to be decoded."""
    found = _scan(text, _OUTER, _INNER, _LETTERS, _NUMBERS, PLACES, b"args") if is_compiled else None
    if found is None:
        return None
    rows, has_high, made = found
    if has_high and not _is_text(text):
        return None
    phases = made[_PHASE]
    has_halves = phases is not None and not HALVES.isdisjoint(one.decode().strip('"') for one in phases[1])
    return Columns(rows, made, bytes(text) if has_halves else b"")


def renumbered(codes: Any, count: int) -> tuple[bytes, bytes]:
    """int32 codes below `count` as they come: (int32 of each row, which code each new one is)."""
    return _renumbered(codes, count)


def _is_text(text: memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
