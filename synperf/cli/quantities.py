"""Quantities on the command line: `2GB`, `900GB/s`, `5us` or a plain number, and lists of them."""

from __future__ import annotations

from typing import Any

from ..errors import FieldError
from ..units import unit_of
from .named_values import quantity

_UNITS = {
    "times": "s",
    "seconds": "s",
    "peak": "FLOP/s",
    "reported": "FLOP/s",
    "bandwidth": "B/s",
    "busbw": "B/s",
    "network_bandwidth": "B/s",
}  # of names that do not end with theirs


def amounts(**texts: str | None) -> dict[str, Any]:
    """Texts of options as numbers by the option's name, which tells the unit; what was not given stays None.

    Raises:
        FieldError: one is no number, or in another unit.
    """
    return {name: None if text is None else _amount(name, text) for name, text in texts.items()}


def amount_list(name: str, text: str | None) -> tuple[float, ...] | None:
    """The numbers of a list with commas; None where none was given.

    Raises:
        FieldError: one is no number, in another unit, or the list is empty.
    """
    if text is None:
        return None
    if not text.strip():
        raise FieldError(f"{name}: an empty list; right would be numbers with commas between them")
    return tuple(_amount(f"{name}[{at}]", part) for at, part in enumerate(text.split(",")))


def _amount(name: str, text: str) -> float:
    field = name.partition("[")[0]
    return quantity(name, text, _UNITS.get(field) or unit_of(field))
