"""Times on a grid of sizes, and straight lines between their logarithms."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import product
from math import exp, log

import numpy as np
import numpy.typing as npt

from ..numeric import Number, is_array

Floats = npt.NDArray[np.float64]


class Surface:
    """Positive values over a grid of one to three positive sizes.

    Between the points of the grid the logarithm of the value is linear in those of the sizes; below the least size it
    is that of the least, beyond the largest the last slope goes on.
    """

    def __init__(self, axes: Sequence[Floats], values: Floats) -> None:
        """`axes` ascend; `values` has one dimension for each."""
        self._axes = [np.log(axis) for axis in axes]
        self._logs = np.log(values)
        self._lists = [axis.tolist() for axis in self._axes], self._logs.tolist()  # of single points, which are faster

    def at(self, *sizes: Number) -> Number:
        """The value at a point, or at many where the sizes are columns."""
        if not is_array(sizes[0]):
            axes, logs = self._lists
            return exp(_between(logs, [_place(axis, size) for axis, size in zip(axes, sizes, strict=True)]))
        places = [_places(axis, size) for axis, size in zip(self._axes, sizes, strict=True)]
        found = np.zeros(len(sizes[0]))
        for corner in product((0, 1), repeat=len(places)):
            weight: Floats = np.ones(len(found))
            index = []
            for (below, share), side, axis in zip(places, corner, self._axes, strict=True):
                weight = weight * (share if side else 1.0 - share)
                index.append(np.minimum(below + side, len(axis) - 1))
            found += weight * self._logs[tuple(index)]
        return np.exp(found)


def _between(logs: list, places: list[tuple[int, float]]) -> float:  # type: ignore[type-arg]  # of lists or numbers
    """The number at a place of nested lists."""
    (below, share), rest = places[0], places[1:]
    low, high = logs[below], logs[min(below + 1, len(logs) - 1)]
    if rest:
        low = _between(low, rest)
        high = _between(high, rest) if share else low
    return float(low + share * (high - low))


def _place(axis: list[float], size: float) -> tuple[int, float]:
    """The point of an axis that lies below a size, and how far on to the next one it is."""
    if len(axis) == 1:
        return 0, 0.0
    at = max(log(size), axis[0])
    below = min(bisect_right(axis, at) - 1, len(axis) - 2)
    return below, (at - axis[below]) / (axis[below + 1] - axis[below])


def _places(axis: Floats, size: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """The same for many sizes."""
    if len(axis) == 1:
        return np.zeros(len(size), dtype=np.intp), np.zeros(len(size))
    at = np.maximum(np.log(size), axis[0])
    below = np.minimum(np.searchsorted(axis, at, side="right") - 1, len(axis) - 2)
    return below, (at - axis[below]) / (axis[below + 1] - axis[below])
