"""Decimal texts to whole numbers of a smaller unit, exactly: a double has too few digits for ns since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

NONE = np.iinfo(np.int64).min  # stands where a text is no number, or one that 64 bits cannot hold
_NUMERIC = b"0123456789.-\n"
_DIGITS = 18  # that a 64-bit number holds in any case
_SAFE = 9.2e18  # below the largest one


def scaled(texts: Sequence[bytes | Raw], places: int) -> NDArray[np.int64]:
    """Each text times 10**places, rounded to whole (a half away from zero); quotes around a text are ignored."""
    if not texts:
        return np.empty(0, dtype=np.int64)
    joined = b"\n".join(texts)
    if b'"' in joined:
        joined = joined.replace(b'"', b"")
    if not joined.translate(None, _NUMERIC):
        for read in (_alike, _plain):
            if (fast := read(joined, len(texts), places)) is not None:
                return fast
    return np.array([_slow(bytes(text), places) for text in texts], dtype=np.int64)


def _alike(joined: bytes, count: int, places: int) -> NDArray[np.int64] | None:
    """The same for texts without a sign, all of them whole or all with as many digits behind the point as `places`."""
    if b"-" in joined or b"\n\n" in joined or not (joined[:1].isdigit() and joined[-1:].isdigit()):
        return None
    unit = 10**places
    if points := joined.count(b"."):
        letters = np.frombuffer(joined + b"\n", dtype=np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        own = np.diff(ends, prepend=-1) > places + 1  # else that letter is one of another text
        if points != count or not (own & (letters[ends - places - 1] == ord("."))).all():
            return None
        joined, unit = joined.replace(b".", b""), 1
    whole = np.fromstring(joined, dtype=np.int64, sep="\n")  # what has too many digits is the largest number
    return whole * unit if whole.max() * float(unit) < _SAFE else None


def _plain(joined: bytes, count: int, places: int) -> NDArray[np.int64] | None:
    """The same for texts of digits, a point and a sign in front; None where one is not that, or has too many digits."""
    letters = np.frombuffer(joined + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    length = ends - starts
    excess = np.full(count, -places)
    if b"." in joined:
        points = np.flatnonzero(letters == ord("."))
        owners = np.searchsorted(ends, points)
        if (owners[1:] == owners[:-1]).any():
            return None
        excess[owners] += ends[owners] - points - 1
        length[owners] -= 1
    if b"-" in joined:
        signs = np.flatnonzero(letters == ord("-"))
        owners = np.searchsorted(ends, signs)
        if not np.array_equal(starts[owners], signs):
            return None
        length[owners] -= 1
    if length.min() < 1 or length.max() > _DIGITS:
        return None
    whole = np.fromstring(joined.replace(b".", b""), dtype=np.int64, sep="\n")  # exact, unlike by way of a double
    if (np.abs(whole) * 10.0 ** np.maximum(-excess, 0)).max() > _SAFE:
        return None
    return _rounded(whole, excess)


def _rounded(whole: NDArray[np.int64], excess: NDArray[np.int64]) -> NDArray[np.int64]:
    """`whole` / 10**excess; multiplied where `excess` is below zero."""
    up = whole * 10 ** np.maximum(-excess, 0)
    if not (excess > 0).any():
        return np.asarray(up)
    unit = 10 ** np.maximum(excess, 0)
    down = np.sign(whole) * ((np.abs(whole) + unit // 2) // unit)
    return np.asarray(np.where(excess > 0, down, up))


def _slow(text: bytes, places: int) -> int:
    try:
        value = Decimal(text.decode("ascii").strip('" '))
        if value and value.adjusted() > _DIGITS:  # 1E999999 is a text of few letters and a number of a million digits
            return NONE
        exact = Context(prec=len(text) + places + 1)  # the usual one rounds to 28 digits first
        number = int(value.scaleb(places, exact).to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, ValueError, OverflowError):
        return NONE
    return number if abs(number) < 2**63 else NONE
