"""Decimal texts to whole numbers of a smaller unit, exactly: a double has too few digits for a time since 1970 in ns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

NONE = np.iinfo(np.int64).min  # stands where a text is no number, or one that 64 bits cannot hold
_NUMERIC = b"0123456789.-\n"
_DIGITS = 18  # that a 64-bit number holds in any case
_SAFE = 9.2e18  # below the largest one


def scaled(texts: Sequence[bytes], places: int) -> NDArray[np.int64]:
    """Each text times 10**places, rounded to whole (a half away from zero); quotes around a text are ignored."""
    if not texts:
        return np.empty(0, dtype=np.int64)
    joined = b"\n".join(texts)
    if b'"' in joined:
        joined = joined.replace(b'"', b"")
    fast = None if joined.translate(None, _NUMERIC) else _plain(joined, len(texts), places)
    return fast if fast is not None else np.array([_slow(text, places) for text in joined.split(b"\n")], dtype=np.int64)


def _plain(joined: bytes, count: int, places: int) -> NDArray[np.int64] | None:
    """The same for texts of digits, one point and a sign in front; None where one is not that, or has too many digits."""
    letters = np.frombuffer(joined + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    points = np.flatnonzero(letters == ord("."))
    owners = np.searchsorted(ends, points)
    signs = np.flatnonzero(letters == ord("-"))
    decimals = np.zeros(count, dtype=np.int64)
    decimals[owners] = ends[owners] - points - 1
    digits = _digits(letters, starts, ends)
    if (owners[1:] == owners[:-1]).any() or not np.isin(signs, starts).all():
        return None
    if digits.min() < 1 or digits.max() > _DIGITS:
        return None
    whole = np.fromstring(joined.replace(b".", b""), dtype=np.int64, sep="\n")  # exact, unlike by way of a double
    excess = decimals - places
    if (np.abs(whole) * 10.0 ** np.maximum(-excess, 0)).max() > _SAFE:
        return None
    return _rounded(whole, excess)


def _digits(letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many digits each text has."""
    count = np.concatenate(([0], np.cumsum((letters >= ord("0")) & (letters <= ord("9")))))
    return np.asarray(count[ends] - count[starts])


def _rounded(whole: NDArray[np.int64], excess: NDArray[np.int64]) -> NDArray[np.int64]:
    """`whole` / 10**excess; multiplied where `excess` is below zero."""
    up = whole * 10 ** np.maximum(-excess, 0)
    if not (excess > 0).any():
        return np.asarray(up)
    unit = 10 ** np.maximum(excess, 0)
    down = np.sign(whole) * ((np.abs(whole) + unit // 2) // unit)
    return np.where(excess > 0, down, up)


def _slow(text: bytes, places: int) -> int:
    try:
        value = Decimal(text.decode("ascii").strip()).scaleb(places).to_integral_value(ROUND_HALF_UP)
        number = int(value)
    except (InvalidOperation, ValueError, OverflowError):
        return NONE
    return number if abs(number) < 2**63 else NONE
