"""Lengths of requests: checked as they are given, and drawn where a load says only their nominal size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from ..errors import FieldError
from ..kernels.fields import MAX_EXTENT, whole, whole_or_none
from .iterations import Floats, Integers

MOST_REQUESTS = 1_000_000


def one(name: str, value: Any, least: int = 1, most: int = MAX_EXTENT) -> int:
    """A whole number from `least` on, which is 1 or 0.

    Raises:
        FieldError: it is something else.
    """
    if np.ndim(value) or hasattr(value, "to_numpy"):
        raise FieldError(f"{name} must be one whole number, got {len(value)} values")
    return int(whole(name, value, most) if least else whole_or_none(name, value))


def tokens(name: str, values: Any, least: int = 1) -> tuple[int, ...]:
    """A list of whole numbers from `least` on, which is 1 or 0.

    Raises:
        FieldError: it is none, or one is something else; the message has its place.
    """
    return tuple(one(f"{name}[{i}]", value, least) for i, value in enumerate(listed(name, values)))


def listed(name: str, values: Any) -> Iterable[Any]:
    """What has several values.

    Raises:
        FieldError: it has not.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise FieldError(f"{name} must be a list of numbers, got {str(values)[:60]!r}")
    return values


def check(isl: Sequence[int], osl: Sequence[int], cached: Sequence[int]) -> None:
    """Checks that lengths belong to one list of requests, with something new in each of their prompts.

    Raises:
        FieldError: there are none or too many, several numbers of them, or a prompt is in the cache already.
    """
    if not 1 <= len(isl) <= MOST_REQUESTS:
        raise FieldError(f"requests must be from 1 to {MOST_REQUESTS}, got {len(isl)}")
    for name, values in (("osl", osl), ("cached", cached)):
        if len(values) != len(isl):
            raise FieldError(f"{name} has {len(values)} values, but isl has {len(isl)}")
    for i, (prompt, known) in enumerate(zip(isl, cached, strict=True)):
        if known >= prompt:
            raise FieldError(
                f"cached of request {i + 1} must be below its isl {prompt}, as the last token of a prompt is always "
                f"new, got {known}"
            )


def spread(value: Any) -> tuple[float, float]:
    """The least and the greatest length, over the nominal one.

    Raises:
        FieldError: they are not two numbers in that order, above 0 and up to 10.
    """
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = (number(one) for one in value)
        if 0 < low <= high <= 10:
            return low, high
    raise FieldError(f"length_spread must be two numbers, LOW,HIGH with 0 < LOW <= HIGH <= 10, got {value!r}")


def number(value: Any) -> float:
    """A number or decimal text as a float; NaN where it is neither."""
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def finite(name: str, value: Any, least: float, most: float, unit: str) -> float:
    """A number from `least` to `most`.

    Raises:
        FieldError: it is none.
    """
    found = number(value)
    if not (isfinite(found) and least <= found <= most):
        raise FieldError(f"{name} must be a number of {unit} from {least:g} to {most:g}, got {value!r}")
    return found


def drawn(nominal: int, between: tuple[float, float], count: int, generator: np.random.Generator) -> Integers:
    """Lengths that are spread evenly between two shares of the nominal one, of a token at least."""
    low, high = (min(max(round(share * nominal), 1), MAX_EXTENT) for share in between)
    return generator.integers(low, high, count, endpoint=True)


def poisson(rate: float, count: int, generator: np.random.Generator) -> Floats:
    """Times of requests that come independently of each other, `rate` of them in a second."""
    times: Floats = np.cumsum(generator.exponential(1 / rate, count))
    return times
