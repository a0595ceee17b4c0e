"""How much further errors go on a shape, the further it is from the nearest measured one.

A shape is a place: its extents, as logarithms to base 2. Distances are Euclidean, in octaves. The size of errors is
taken to grow by one factor per octave, within the distances at which it was measured.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np

from ..numeric import Number

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
        cut = np.minimum(np.maximum(octaves, self.least), self.most)
        return np.exp(self.growth * (cut - self.usual))

    def wider_at(self, extents: np.ndarray) -> Number:
        """The same of a shape (fields,), or of shapes (rows, fields)."""
        return self.wider(octaves(extents, _places(self)))


def octaves(extents: np.ndarray, places: np.ndarray) -> Number:
    """From a shape (fields,), or from shapes (rows, fields), to the nearest place (places, fields)."""
    at = np.log2(extents)
    if at.ndim == 1:
        return _nearest(at, places)
    blocks = [_nearest(at[start : start + _BLOCK, None], places) for start in range(0, len(at), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def _nearest(at: np.ndarray, places: np.ndarray) -> Number:
    gap = places - at
    return np.sqrt(np.einsum("...i,...i->...", gap, gap).min(axis=-1))


@lru_cache(maxsize=256)
def _places(nearness: Nearness) -> np.ndarray:
    places: np.ndarray = np.log2(np.array(nearness.shapes, dtype=np.float64))
    return places
