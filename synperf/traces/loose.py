"""JSON values whose types are not what they should be: what is right of them is read, the rest is as if not there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import nan
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

JUNK = (msgspec.MsgspecError, RecursionError, UnicodeError)  # what text that is no JSON raises
Made = TypeVar("Made", bound=msgspec.Struct)
json_object = msgspec.json.Decoder(dict[str, Raw]).decode


def struct_of(kind: type[Made], text: bytes | Raw) -> Made:
    """A struct whose fields of odd types have their defaults, and those of structs within it.

    Raises: one of `JUNK`: the text is no object.
    """
    given = json_object(text)
    found = {name: _tried(read, given[key]) for key, name, read in _readers(kind) if key in given}
    return kind(**{name: value for name, value in found.items() if value is not None})


@cache
def _readers(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Of each field: its key in JSON, its name, and what reads it."""
    return tuple((one.encode_name, one.name, _reader(one.type)) for one in msgspec.structs.fields(kind))


def _reader(kind: Any) -> Callable[[Any], Any]:
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return partial(struct_of, kind) if is_struct else msgspec.json.Decoder(kind).decode


def _tried(read: Callable[[Any], Any], text: Any) -> Any:
    """What is read of a text, or None."""
    try:
        return read(text)
    except JUNK:
        return None


def is_object(text: bytes) -> bool:
    """Whether it is JSON of an object."""
    try:
        json_object(text)
    except JUNK:
        return False
    return True


def number(value: Any) -> int:
    """A whole number of 64 bits that may be written as text, in hexadecimals too, else -1."""
    if isinstance(value, str):
        value = _of_text(value)
    if isinstance(value, float) and abs(value) < 2**63:  # false of what is no number
        value = int(value)
    return value if isinstance(value, int) and abs(value) < 2**63 else -1


def _of_text(text: str) -> Any:
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return read()
        except ValueError:
            continue
    return -1


def share(value: Any) -> float:
    """A percentage as a share of 0..1, NaN where there is none."""
    try:
        found = float(value) / 100
    except (TypeError, ValueError):
        found = nan
    return found if 0 <= found <= 1 else nan
