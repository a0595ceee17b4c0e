"""Measured calls by shape: which fields a table is interpolated along, between and never across.

A GEMM weight is a shape (n, k, batch) and was measured at several m. Between two measured m of a shape the residual is
interpolated in log m, unless they lie further apart than `MAX_STEP`; outside them there is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

MAX_STEP = 2.0  # largest ratio of two neighbouring measured extents between which a table is interpolated
_BITS = 31  # extents are below 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Number fields of a family: one to interpolate along, those in which shapes lie near, those that must agree."""

    along: str
    near: tuple[str, ...]
    same: tuple[str, ...]


AXES: Mapping[str, Axes] = {"gemm": Axes(along="m", near=("n", "k"), same=("batch",))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shapes:
    """Shapes in a fixed order: their position in octaves, and the code of the fields that must agree."""

    index: Mapping[tuple[float, ...], int]
    octaves: np.ndarray  # (shapes, fields that may be near)
    same: np.ndarray  # (shapes, fields that must agree)

    @classmethod
    def of(cls, axes: Axes, numbers: Mapping[str, np.ndarray]) -> tuple[Shapes, np.ndarray]:
        """The distinct shapes of some calls, and the shape of each call."""
        names = (*axes.near, *axes.same)
        first, which = distinct([numbers[name] for name in names])
        values = np.stack([numbers[name][first] for name in names], axis=1)
        split = len(axes.near)
        index = {shape: i for i, shape in enumerate(map(tuple, values.tolist()))}
        return cls(index=index, octaves=np.log2(values[:, :split]), same=values[:, split:]), which

    def __len__(self) -> int:
        """Number of shapes."""
        return len(self.octaves)

    def take(self, chosen: np.ndarray) -> Shapes:
        """Some shapes, in the order of `chosen`."""
        keys = list(self.index)
        index = {keys[old]: new for new, old in enumerate(chosen.tolist())}
        return Shapes(index=index, octaves=self.octaves[chosen], same=self.same[chosen])


def distinct(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(where each distinct row is first, which of them each row is) of columns of one length, in sorted order."""
    if len(columns[0]) == 1:
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, own = np.unique(column, return_inverse=True)
        _, code = np.unique(code * len(values) + own, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    return first, code


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Brackets:
    """For each query the two measured rows that enclose it, and the weight of the upper one; both are one at a hit.

    Where `covered` is false the rows mean nothing.
    """

    lower: np.ndarray
    upper: np.ndarray
    weight: np.ndarray
    covered: np.ndarray

    @property
    def is_hit(self) -> np.ndarray:
        """Which queries were measured themselves."""
        found: np.ndarray = self.covered & (self.lower == self.upper)
        return found

    def take(self, rows: np.ndarray | slice) -> Brackets:
        """Some queries: an index, a mask or a slice."""
        return Brackets(
            lower=self.lower[rows], upper=self.upper[rows], weight=self.weight[rows], covered=self.covered[rows]
        )

    def at(self, values: np.ndarray) -> np.ndarray:
        """Column values interpolated at the queries, 0 where they are not covered."""
        found = values[self.lower] * (1 - self.weight) + values[self.upper] * self.weight
        return np.where(self.covered, found, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ladder:
    """The measured extents of every shape, one ladder after the other, ordered by shape and extent."""

    key: np.ndarray  # shape and extent in one whole number
    log_extent: np.ndarray

    @property
    def shape(self) -> np.ndarray:
        """The shape of each row."""
        return self.key >> _BITS

    @classmethod
    def of(cls, shape: np.ndarray, extent: np.ndarray) -> Ladder:
        """The ladder of rows that are already in order."""
        return cls(key=_key(shape, extent), log_extent=np.log2(extent))

    def bracket(self, shape: np.ndarray, extent: np.ndarray) -> Brackets:
        """The rows of each query's shape around its extent; `shape` below 0 is none."""
        key, last = _key(shape, extent), len(self.key) - 1
        at = np.searchsorted(self.key, key)
        upper, lower = np.minimum(at, last), np.maximum(at - 1, 0)
        is_hit = self.key[upper] == key
        lower = np.where(is_hit, upper, lower)
        log = np.log2(extent)
        below, above = self.log_extent[lower], self.log_extent[upper]
        step = above - below
        same = (self.key[lower] >> _BITS == shape) & (self.key[upper] >> _BITS == shape) & (is_hit | (lower < upper))
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(is_hit, 0.0, (log - below) / step)
        covered = same & (shape >= 0) & (step <= np.log2(MAX_STEP))
        return Brackets(lower=lower, upper=upper, weight=np.where(covered, weight, 0.0), covered=covered)

    def without_own(self) -> Brackets:
        """For each row of the ladder the rows below and above it, which enclose it once it is taken out."""
        row = np.arange(len(self.key))
        lower, upper = np.maximum(row - 1, 0), np.minimum(row + 1, len(row) - 1)
        shape = self.shape
        step = self.log_extent[upper] - self.log_extent[lower]
        covered = (shape[lower] == shape) & (shape[upper] == shape) & (lower < row) & (row < upper)
        covered &= step <= np.log2(MAX_STEP)
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = np.where(covered, (self.log_extent - self.log_extent[lower]) / step, 0.0)
        return Brackets(lower=lower, upper=upper, weight=weight, covered=covered)


def _key(shape: np.ndarray, extent: np.ndarray) -> np.ndarray:
    key: np.ndarray = (shape.astype(np.int64) << _BITS) + extent.astype(np.int64)
    return key
