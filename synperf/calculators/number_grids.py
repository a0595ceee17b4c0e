"""The values that a format of few bits can hold, and rounding to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Format:
    """Bits of a value, and of its exponent and mantissa; an integer has no exponent."""

    bits: int
    exponent: int = 0
    mantissa: int = 0
    values_lost: int = 0  # the largest codes that are no numbers


FORMATS = {  # OCP 8-bit Floating Point Specification and OCP Microscaling Formats (MX) 1.0, for the floating ones
    "int8": Format(8),
    "int4": Format(4),
    "fp8_e4m3": Format(8, 4, 3, 1),
    "fp8_e5m2": Format(8, 5, 2, 4),
    "fp4_e2m1": Format(4, 2, 1),
}


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in FORMATS:
        raise UnknownNameError(f"format: {UnknownNameError.among('format', name, FORMATS)}")
    return FORMATS[name]


def greatest(kind: Format) -> float:
    """The greatest value that the format holds: 127, 7, 448, 57344, 6."""
    return float(_grid(kind)[-1])


@cache
def _grid(kind: Format) -> np.ndarray:
    """Every value from 0 on, ascending, so that the place of one is its code without the sign.

    A symmetric integer leaves its least value out: int8 goes from -127 to 127.
    """
    if not kind.exponent:
        return np.arange(2 ** (kind.bits - 1), dtype=np.float64)
    codes = np.arange(2 ** (kind.bits - 1) - kind.values_lost)
    exponents, fractions = codes >> kind.mantissa, codes & ((1 << kind.mantissa) - 1)
    bias = 2 ** (kind.exponent - 1) - 1
    scale = 2.0 ** (np.maximum(exponents, 1) - bias - kind.mantissa)
    whole = np.where(exponents > 0, fractions + (1 << kind.mantissa), fractions)
    return np.asarray(whole * scale, dtype=np.float64)


def rounded(values: np.ndarray, kind: Format) -> np.ndarray:
    """Each value as the nearest that the format holds, ties to the even code, those beyond it the greatest."""
    if not kind.exponent:
        return np.asarray(np.clip(np.rint(values), -greatest(kind), greatest(kind)))
    grid = _grid(kind)
    sizes = np.minimum(np.abs(values), grid[-1])
    above = np.minimum(np.searchsorted(grid, sizes), len(grid) - 1)
    below = np.maximum(above - 1, 0)
    up, down = grid[above] - sizes, sizes - grid[below]
    takes_upper = (up < down) | ((up == down) & (above % 2 == 0))
    return np.asarray(np.copysign(grid[np.where(takes_upper, above, below)], values))
