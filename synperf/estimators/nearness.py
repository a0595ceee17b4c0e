"""How much further errors go on a shape, the further it is from the nearest measured one.

A shape is a place: its extents, as logarithms to base 2. Distances are Euclidean, in octaves. The size of errors is
taken to grow by one factor per octave, within the distances at which it was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from ..numeric import Number, maximum, minimum

_BLOCK = 1024  # shapes per pass: what they are held against some tens of measured ones in stays in the caches


class Nearness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Measured shapes, and how errors grow with the octaves to the nearest of them."""

    shapes: tuple[tuple[int, ...], ...]  # extents, in the order of `KernelFamily.shape`
    growth: float  # of log(error), per octave
    least: float  # octaves from a shape that errors were measured on to the nearest other one
    usual: float  # those at which an interval is as wide as its regime says
    most: float

    def wider(self, octaves: Number) -> Number:
        """By how much further errors go at this distance than at the usual one."""
        cut = minimum(maximum(octaves, self.least), self.most)
        return np.exp(self.growth * (cut - self.usual))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """Where some shapes are, as what squares of distances to them are made of: x x - 2 x y + y y."""

    twice: np.ndarray  # (fields, shapes)
    squares: np.ndarray  # (shapes,)

    @classmethod
    def of(cls, extents: np.ndarray) -> Places:
        """Of shapes (shapes, fields)."""
        at = np.log2(np.asarray(extents, dtype=np.float64))
        return cls(twice=2 * at.T, squares=(at * at).sum(axis=1))

    def octaves(self, extents: np.ndarray) -> Number:
        """From a shape (fields,), or from shapes (rows, fields), to the nearest place."""
        at = np.log2(extents)
        if at.ndim == 1:
            return np.sqrt(max((self.squares - at.dot(self.twice)).min() + at.dot(at), 0.0))
        blocks = [self._squares(at[start : start + _BLOCK]) for start in range(0, len(at), _BLOCK)]
        return np.sqrt(np.maximum(np.concatenate([np.empty(0), *blocks]), 0.0))

    def _squares(self, at: np.ndarray) -> np.ndarray:
        found: np.ndarray = (self.squares - at @ self.twice).min(axis=1) + (at * at).sum(axis=1)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Near:
    """A nearness with its shapes as places, which every answer is held against."""

    nearness: Nearness
    places: Places

    @classmethod
    def of(cls, nearness: Nearness) -> Near:
        return cls(nearness=nearness, places=Places.of(np.array(nearness.shapes)))

    def wider(self, extents: np.ndarray) -> Number:
        """By how much further errors go on a shape (fields,), or on shapes (rows, fields)."""
        return self.nearness.wider(self.places.octaves(extents))
