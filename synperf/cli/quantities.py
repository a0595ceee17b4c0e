"""Quantities on the command line: `2GB`, `900GB/s`, `5us` or a plain number, and lists of them."""

from __future__ import annotations

from typing import Any

from ..errors import FieldError, named
from ..units import parse_quantity, unit_of

_UNITS = {
    "times": "s",
    "seconds": "s",
    "peak": "FLOP/s",
    "reported": "FLOP/s",
    "bandwidth": "B/s",
    "busbw": "B/s",
    "network_bandwidth": "B/s",
}  # of names that do not end with theirs


def quantity(option: str, text: str, unit: str) -> float:
    """A number that may have this unit.

    Raises:
        FieldError: it is none, or in another unit; the message begins with the option.
    """
    with named(option):
        return parse_quantity(text, unit)


def quantity_or_none(option: str, text: str | None, unit: str) -> float | None:
    """As `quantity`, of an option that may be left out.

    Raises:
        FieldError: as `quantity`.
    """
    return None if text is None else quantity(option, text, unit)


def amounts(**texts: str | None) -> dict[str, Any]:
    """Texts of options as numbers by the option's name, which tells the unit; what was not given stays None.

    Raises:
        FieldError: one is no number, or in another unit.
    """
    return {name: quantity_or_none(name, text, _unit(name)) for name, text in texts.items()}


def amount_list(name: str, text: str | None) -> tuple[float, ...] | None:
    """The numbers of a list with commas; None where none was given.

    Raises:
        FieldError: one is no number, in another unit, or the list is empty.
    """
    if text is None:
        return None
    if not text.strip():
        raise FieldError(f"{name}: an empty list; right would be numbers with commas between them")
    return tuple(quantity(f"{name}[{at}]", part, _unit(name)) for at, part in enumerate(text.split(",")))


def named_amounts(name: str, text: str | None) -> dict[str, float]:
    """The numbers of `wait=3,barrier=1` by their names; none where nothing was given.

    Raises:
        FieldError: one has no name or no number, or a name is there twice.
    """
    found: dict[str, float] = {}
    for part in [] if text is None else text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or key in found:
            raise FieldError(f"{name}: {part.strip()[:40]!r}; right would be NAME=NUMBER with commas, each name once")
        found[key] = quantity(f"{name} {key}"[:60], value, _unit(name))
    return found


def _unit(name: str) -> str:
    return _UNITS.get(name) or unit_of(name)
