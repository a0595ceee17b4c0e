"""Units of Nsight Compute to units without a prefix: `usecond` to `s`, `Gbyte/s` to `B/s`, `%` to a share of 1."""

from __future__ import annotations

import re

_STEMS = {
    "second": "s", "s": "s", "byte": "B", "hz": "Hz", "inst": "inst", "sector": "sector", "cycle": "cycle",
    "request": "request", "warp": "warp", "block": "block",
}  # fmt: skip
_PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "g": 1e9, "t": 1e12}  # of texts in lower case
_MEGA = 1e6  # an upper-case M before anything but seconds
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


def scaled(text: str, unit: str) -> tuple[float | None, str]:
    """The number that is printed, in the unit without a prefix, and that unit; None where it is no number."""
    factor, base = _factor(unit)
    value = _number(text)
    return (None if value is None else value * factor), base


def _number(text: str) -> float | None:
    plain = text.strip().replace(",", "") if _THOUSANDS.fullmatch(text.strip()) else text.strip()
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _factor(unit: str) -> tuple[float, str]:
    if unit == "%":
        return 0.01, ""
    above, slash, below = unit.partition("/")
    up, top = _part(above)
    down, bottom = _part(below)
    return up / down, f"{top}/{bottom}" if slash else top


def _part(text: str) -> tuple[float, str]:
    """`Gbyte` is 1e9 of `B`; a unit that is not known stays as it is."""
    low = text.lower()
    for length in (0, 1):
        stem = low[length:].removesuffix("s") if len(low) - length > 1 else low[length:]
        if stem in _STEMS and low[:length] in (*_PREFIXES, "m"):
            mega = text[:length] == "M" or (low[:length] == "m" and _STEMS[stem] != "s")
            return (_MEGA if mega else _PREFIXES[low[:length]]), _STEMS[stem]
    return 1.0, text
