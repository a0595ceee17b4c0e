"""What a calculator takes for a number: a finite amount that is neither so small nor so large that sums lose it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..errors import FieldError
from ..kernels.fields import MAX_EXTENT, whole, whole_or_none
from ..numeric import is_array

_LEAST, _MOST = 1e-18, 1e24
_MOST_COUNT = 2**53
_MOST_VALUES = 65_536


def positive(**values: float) -> None:
    """Checks that all are above 0.

    Raises:
        FieldError: one is not, or out of all proportion.
    """
    for name, value in values.items():
        if not _LEAST <= number(name, value) <= _MOST:
            raise FieldError(f"{name} must be above 0 (from {_LEAST:g} to {_MOST:g}), got {_shown(value)}")


def not_negative(**values: float) -> None:
    """Checks that all are 0 or above.

    Raises:
        FieldError: one is not, or out of all proportion.
    """
    for name, value in values.items():
        if number(name, value) != 0 and not _LEAST <= value <= _MOST:
            raise FieldError(f"{name} must be 0 or above (up to {_MOST:g}), got {_shown(value)}")


def share(**values: float) -> None:
    """Checks that all are above 0 and up to 1.

    Raises:
        FieldError: one is not.
    """
    for name, value in values.items():
        if not _LEAST <= number(name, value) <= 1:
            raise FieldError(f"{name} must be above 0 and up to 1, got {_shown(value)}")


def all_positive(name: str, values: Sequence[float]) -> None:
    """Checks that a list has values, all above 0.

    Raises:
        FieldError: it is empty, too long, or one is not above 0.
    """
    _check_length(name, values)
    for at, value in enumerate(values):
        positive(**{f"{name}[{at}]": value})


def all_not_negative(name: str, values: Sequence[float]) -> None:
    """Checks that a list has values, none below 0.

    Raises:
        FieldError: it is empty, too long, or one is below 0.
    """
    _check_length(name, values)
    for at, value in enumerate(values):
        not_negative(**{f"{name}[{at}]": value})


def count(name: str, value: Any, most: int = _MOST_COUNT) -> int:
    """A whole number from 1 on.

    Raises:
        FieldError: it is none, or there are several.
    """
    found = whole(name, value, most)
    if is_array(found):
        raise FieldError(f"{name} must be one whole number, got {len(found)}")
    return int(found)


def count_or_none(name: str, value: Any) -> int:
    """A whole number from 0, which is none, to 2^31 - 1.

    Raises:
        FieldError: as `count`.
    """
    if isinstance(value, np.ndarray | list | tuple):
        raise FieldError(f"{name} must be one whole number, got {len(np.atleast_1d(value))}")
    return int(whole_or_none(name, value))


def extent(name: str, value: Any) -> int:
    """A whole number from 1 to 2^31 - 1, as a call's extents are.

    Raises:
        FieldError: as `count`.
    """
    return count(name, value, MAX_EXTENT)


def number(name: str, value: Any) -> Any:
    """The value, if it is one number.

    Raises:
        FieldError: it is text, a list, an array, or nothing.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise FieldError(f"{name} must be a number, got {str(value)[:40]!r}")
    return value


def _shown(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)[:40]


def _check_length(name: str, values: Any) -> None:
    if not hasattr(values, "__len__") or isinstance(values, str):
        raise FieldError(f"{name} must be a list of numbers, got {str(values)[:40]!r}")
    if not 0 < len(values) <= _MOST_VALUES:
        raise FieldError(f"{name} must have from 1 to {_MOST_VALUES} values, got {len(values)}")
