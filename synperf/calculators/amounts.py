"""What a calculator takes for a number: a finite amount that is neither so small nor so large that sums lose it."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import FieldError
from ..kernels.fields import whole

_LEAST, _MOST = 1e-18, 1e24
_MOST_COUNT = 2**53
_MOST_VALUES = 65_536


def positive(**values: float) -> None:
    """Checks that all are above 0.

    Raises:
        FieldError: one is not, or out of all proportion.
    """
    for name, value in values.items():
        if not _LEAST <= value <= _MOST:
            raise FieldError(f"{name} must be above 0 (from {_LEAST:g} to {_MOST:g}), got {value:g}")


def not_negative(**values: float) -> None:
    """Checks that all are 0 or above.

    Raises:
        FieldError: one is not, or out of all proportion.
    """
    for name, value in values.items():
        if value != 0 and not _LEAST <= value <= _MOST:
            raise FieldError(f"{name} must be 0 or above (up to {_MOST:g}), got {value:g}")


def share(**values: float) -> None:
    """Checks that all are above 0 and up to 1.

    Raises:
        FieldError: one is not.
    """
    for name, value in values.items():
        if not _LEAST <= value <= 1:
            raise FieldError(f"{name} must be above 0 and up to 1, got {value:g}")


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


def count(name: str, value: float, most: int = _MOST_COUNT) -> int:
    """A whole number from 1 on.

    Raises:
        FieldError: it is none.
    """
    return int(whole(name, value, most))


def _check_length(name: str, values: Sequence[float]) -> None:
    if not 0 < len(values) <= _MOST_VALUES:
        raise FieldError(f"{name} must have from 1 to {_MOST_VALUES} values, got {len(values)}")
