"""Where the ends of buckets should lie: of equal width, or where padding to the next end costs least."""

from __future__ import annotations

import numpy as np

from ..errors import FieldError

_MOST_STEPS = 400_000_000  # pairs of lengths that are looked at


def equal_edges(values: np.ndarray, count: int) -> tuple[int, ...]:
    """Buckets of one width, up to the longest: ends at the longest times 1/count, 2/count, ... rounded up."""
    longest = int(values.max())
    return tuple(sorted({-(-longest * place // count) for place in range(1, count + 1)}))


def optimal_edges(values: np.ndarray, count: int, power: int) -> tuple[int, ...]:
    """The `count` ends, each a length that occurs, for which the sum of (padded length) ** power is least.

    Dynamic programming over the distinct lengths: the best with one bucket more that ends at each of them.

    Raises:
        FieldError: more distinct lengths and buckets than can be looked through.
    """
    lengths, repeats = np.unique(values, return_counts=True)
    if count >= len(lengths):
        return tuple(int(one) for one in lengths)
    if count * len(lengths) ** 2 > _MOST_STEPS:
        raise FieldError(f"buckets: {count} over {len(lengths):,} distinct lengths are too many to place at best; "
                         "right would be fewer, the ends themselves, or --edges equal")  # fmt: skip
    price = lengths.astype(np.float64) ** power
    before = np.concatenate([[0.0], np.cumsum(repeats)])  # sequences up to each length
    best, came_from = price * before[1:], []
    for _ in range(1, count):
        best, last = _with_one_more(best, price, before)
        came_from.append(last)
    return tuple(int(lengths[at]) for at in _ends(came_from, len(lengths) - 1))


def _with_one_more(best: np.ndarray, price: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least cost with one bucket more that ends at each length, and where the bucket before it ends, or -1."""
    found, last = price * before[1:], np.full(len(price), -1)
    for end in range(1, len(price)):
        costs = best[:end] + price[end] * (before[end + 1] - before[1 : end + 1])
        at = int(np.argmin(costs))
        if costs[at] < found[end]:
            found[end], last[end] = costs[at], at
    return found, last


def _ends(came_from: list[np.ndarray], end: int) -> list[int]:
    found = [end]
    for last in reversed(came_from):
        if last[found[-1]] < 0:
            break
        found.append(int(last[found[-1]]))
    return found[::-1]
