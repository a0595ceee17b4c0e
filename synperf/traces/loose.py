"""JSON values whose types are not what they should be: what is right of them is read, the rest is as if not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import nan
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

JUNK = (msgspec.MsgspecError, RecursionError, UnicodeError)  # what text that is no JSON raises
Made = TypeVar("Made", bound=msgspec.Struct)
_EMPTY = Raw(b"{}")
json_object = msgspec.json.Decoder(dict[str, Raw]).decode


def struct_of(kind: type[Made], text: bytes | Raw) -> Made:
    """A struct whose fields of odd types have their defaults.

    Raises: one of `JUNK`: the text is no object.
    """
    given, made = json_object(text), kind()
    for found in msgspec.structs.fields(kind):
        value = tried(_decoder(found.type), given[found.encode_name]) if found.encode_name in given else None
        if value is not None:
            setattr(made, found.name, value)
    return made


def structs_of(kind: type[Made], texts: Sequence[Raw]) -> list[Made]:
    """The struct of each text; one of defaults where a text is empty, or no object."""
    try:
        found: list[Made] = _decoder(list[kind])(b"[" + b",".join([text or _EMPTY for text in texts]) + b"]")  # type: ignore[valid-type]
        return found
    except JUNK:
        return [tried(lambda text: struct_of(kind, text), text) or kind() for text in texts]


def tried(read: Callable[[Any], Any], text: Any) -> Any:
    """What is read of a text, or None."""
    try:
        return read(text)
    except JUNK:
        return None


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    return msgspec.json.Decoder(kind).decode


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
