"""Arithmetic that reads the same for one call (plain floats) and for a million (NumPy arrays).

Counts are float64 inside arrays: every integer below 2**53 is exact, and products of four extents of
2**31 do not overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from math import ceil, gcd
from math import floor as floor_of
from typing import Any

import numpy as np
from numpy import ndarray

Number = Any  # int, float or a float64 array of one length; mypy cannot follow both through one formula


def concatenated(parts: Sequence[Any]) -> dict[str, ndarray]:
    """The fields that are arrays in all records of one dataclass by name, one part after the other."""
    names = [f.name for f in fields(parts[0]) if all(isinstance(getattr(part, f.name), ndarray) for part in parts)]
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def is_array(x: Number) -> bool:
    """Whether `x` holds many calls at once."""
    return type(x) is ndarray


def ceil_div(a: Number, b: Number) -> Number:
    """The least whole number that is not below a / b. Exact while the quotient of whole numbers is below 2**52 / b."""
    q = a / b
    return np.ceil(q) if type(q) is ndarray else float(ceil(q))


def ceil_of(*values: Number) -> Callable[[Any], Any]:
    """The function that rounds up what comes of these values: of NumPy where one of them is an array, else of math."""
    for value in values:
        if type(value) is ndarray:
            return np.ceil
    return ceil


def floor(a: Number) -> Number:
    """The greatest whole number that is not above `a`."""
    return np.floor(a) if type(a) is ndarray else float(floor_of(a))


def round_up(a: Number, b: Number) -> Number:
    """The least multiple of `b` that is not below `a`."""
    return ceil_div(a, b) * b


def power_of_two(a: Number) -> Number:
    """The least power of two that is not below `a`, from 1 on."""
    if type(a) is np.ndarray:
        return np.exp2(np.ceil(np.log2(np.maximum(a, 1.0))))
    return float(1 << (ceil(a) - 1).bit_length()) if a > 1 else 1.0


def common_divisor(a: Number, b: Number) -> Number:
    """The greatest common divisor of two whole numbers."""
    if is_array(a) or is_array(b):
        found: ndarray = np.gcd(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)).astype(np.float64)
        return found
    return float(gcd(int(a), int(b)))


def maximum(a: Number, b: Number) -> Number:
    """The larger, element by element."""
    if type(a) is ndarray or type(b) is ndarray:
        return np.maximum(a, b)
    return a if a >= b else b


def minimum(a: Number, b: Number) -> Number:
    """The smaller, element by element."""
    if type(a) is ndarray or type(b) is ndarray:
        return np.minimum(a, b)
    return a if a <= b else b


def where(condition: Number, yes: Number, no: Number) -> Number:
    """`yes` where the condition holds, else `no`, element by element."""
    if type(condition) is ndarray:
        return np.where(condition, yes, no)
    return yes if condition else no
