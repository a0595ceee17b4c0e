"""Times on a grid of sizes, and straight lines between their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

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

    def at(self, *sizes: Floats) -> Floats:
        """Values at points, of which each of `sizes` has one coordinate."""
        places = [_place(axis, np.asarray(size)) for axis, size in zip(self._axes, sizes, strict=True)]
        found = np.zeros(len(places[0][0]))
        for corner in product((0, 1), repeat=len(places)):
            weight: Floats = np.ones(len(found))
            index = []
            for (below, share), side, axis in zip(places, corner, self._axes, strict=True):
                weight = weight * (share if side else 1.0 - share)
                index.append(np.minimum(below + side, len(axis) - 1))
            found += weight * self._logs[tuple(index)]
        return np.exp(found)


def _place(axis: Floats, size: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """The points of an axis that lie below sizes, and how far on to the next ones these are."""
    if len(axis) == 1:
        return np.zeros(len(size), dtype=np.intp), np.zeros(len(size))
    logs = np.maximum(np.log(np.maximum(size, 1e-300)), axis[0])
    below = np.clip(np.searchsorted(axis, logs, side="right") - 1, 0, len(axis) - 2)
    return below, (logs - axis[below]) / (axis[below + 1] - axis[below])
