"""Residuals of near shapes -> the residual of a shape that was not measured, by simple kriging.

The residual r = log(measured / trend) is taken for a Gaussian process of mean 0 over the shapes, in octaves, with

    cov(r_i, r_j) = COMMON + exp(-d_ij / length) + nugget [i = j]

COMMON is the variance of what all near shapes share, in units of the part that fades with distance. The prediction is
sum(w_i r_i) with C w = c. A large nugget (shapes that do not say anything of one another) makes the weights small, so
that the answer falls back to the trend; length and nugget are those of least leave-one-shape-out error.
Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.2 and 5.4.2; Cressie,
"Statistics for Spatial Data", 1993, section 3.2 (the exponential covariance needs few neighbours: the near ones screen
the far ones).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .shapes import Brackets, Ladder, Shapes

NEIGHBOURS = 8  # measured: 8 are as good as 32, docs/measured.md
RADIUS = 1.5  # octaves; beyond, the error of new shapes doubles, docs/measured.md
FEWEST = 4  # neighbours that an answer needs
SLACK = 0.5  # octaves by which a query may lie outside its neighbours in one direction
COMMON = 1.0
_BLOCK = 2048  # shapes, or systems of equations, per pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Covariance:
    """Length in octaves, and variance of what is a shape's own in units of what it shares."""

    length: float
    nugget: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nearest:
    """The neighbours of each query shape, nearest first; `within` says which of the places hold one."""

    shape: np.ndarray  # (queries, NEIGHBOURS)
    distance: np.ndarray
    within: np.ndarray


def nearest(shapes: Shapes, queries: Shapes, *, itself: np.ndarray | None = None) -> Nearest:
    """Up to `NEIGHBOURS` shapes within `RADIUS` of each query; `itself` are the shapes that are left out, one each."""
    count = min(NEIGHBOURS, len(shapes))
    found = np.empty((len(queries), count), dtype=np.int64)
    distance = np.empty((len(queries), count))
    for start in range(0, len(queries), _BLOCK):
        rows = slice(start, start + _BLOCK)
        d = _distances(queries.octaves[rows], shapes.octaves)
        d[np.any(queries.same[rows, None] != shapes.same, axis=2)] = np.inf
        if itself is not None:
            d[np.arange(len(d)), itself[rows]] = np.inf
        near = np.argpartition(d, count - 1, axis=1)[:, :count]
        order = np.take_along_axis(near, np.argsort(np.take_along_axis(d, near, axis=1), axis=1, kind="stable"), axis=1)
        found[rows], distance[rows] = order, np.take_along_axis(d, order, axis=1)
    return Nearest(shape=found, distance=distance, within=distance <= RADIUS)


def _distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Euclidean distances between positions (..., rows, dimensions)."""
    total = np.zeros((*a.shape[:-1], b.shape[-2]))
    for i in range(a.shape[-1]):
        total += (a[..., :, i, None] - b[..., None, :, i]) ** 2
    distance: np.ndarray = np.sqrt(total)
    return distance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbourhood:
    """Query calls among their neighbours: which of these were measured at the call's extent, and where."""

    shapes: Shapes
    queries: Shapes
    near: Nearest
    which: np.ndarray  # (calls,) query shape of each call
    rows: Brackets  # (calls, NEIGHBOURS)
    covered: np.ndarray  # (calls,) enough of them, and on both sides

    @classmethod
    def of(
        cls, shapes: Shapes, ladder: Ladder, queries: Shapes, near: Nearest, which: np.ndarray, extent: np.ndarray
    ) -> Neighbourhood:
        """The neighbourhood of calls of the query shapes."""
        ids = np.where(near.within, near.shape, -1)[which]
        rows = ladder.bracket(ids.ravel(), np.repeat(extent, ids.shape[1]))
        rows = Brackets(**{n: getattr(rows, n).reshape(ids.shape) for n in ("lower", "upper", "weight", "covered")})
        covered = (rows.covered.sum(axis=1) >= FEWEST) & _surrounded(shapes, queries, near, which, rows.covered)
        return cls(shapes=shapes, queries=queries, near=near, which=which, rows=rows, covered=covered)

    @property
    def has_own(self) -> np.ndarray:
        """Which calls lie between two measured extents of their very shape."""
        own: np.ndarray = self.rows.covered[:, 0] & (self.near.distance[self.which, 0] == 0)
        return own

    def with_own(self, own: Brackets) -> Neighbourhood:
        """The same calls, bracketed in their very shape as `own` says."""
        names = ("lower", "upper", "weight", "covered")
        columns = {n: np.column_stack([getattr(own, n), getattr(self.rows, n)[:, 1:]]) for n in names}
        return replace(self, rows=Brackets(**columns))

    def every(self, step: int) -> Neighbourhood:
        """Every `step`-th call."""
        rows = slice(None, None, step)
        return replace(self, which=self.which[rows], rows=self.rows.take(rows), covered=self.covered[rows])

    def residual(self, residual: np.ndarray, covariance: Covariance) -> np.ndarray:
        """The kriged residual of each call."""
        found: np.ndarray = (self._weights(covariance) * self.rows.at(residual)).sum(axis=1)
        return found

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of a column over the neighbours that have it, each weighted by its nearness; nan where none has."""
        found = values[self.rows.lower]
        has = self.rows.covered & np.isfinite(found)
        weight = np.where(has, 1 / (0.5 + self.near.distance[self.which]), 0.0)
        total = weight.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: np.ndarray = np.where(total > 0, (weight * np.where(has, found, 0.0)).sum(axis=1) / total, np.nan)
        return mean

    def _weights(self, covariance: Covariance) -> np.ndarray:
        """(calls, NEIGHBOURS) weights: one system of equations for each shape and set of neighbours that occurs."""
        bits = self.rows.covered @ (1 << np.arange(self.rows.covered.shape[1]))
        code, first, system = np.unique(
            self.which * (1 << self.rows.covered.shape[1]) + bits, return_index=True, return_inverse=True
        )
        weights = np.empty((len(code), self.rows.covered.shape[1]))
        for start in range(0, len(code), _BLOCK):
            part = first[start : start + _BLOCK]
            weights[start : start + _BLOCK] = self._solved(self.which[part], self.rows.covered[part], covariance)
        return weights[system]

    def _solved(self, query: np.ndarray, has: np.ndarray, covariance: Covariance) -> np.ndarray:
        position = self.shapes.octaves[self.near.shape[query]]
        between = _covariance(_distances(position, position), covariance.length)
        between = np.where(has[:, :, None] & has[:, None, :], between, 0.0)
        unit = np.eye(has.shape[1])  # a neighbour that is not there: 1 w = 0
        between += unit * np.where(has, covariance.nugget, 1.0)[:, :, None]
        to_query = np.where(has, _covariance(self.near.distance[query], covariance.length), 0.0)
        solved: np.ndarray = np.linalg.solve(between, to_query[:, :, None])[:, :, 0]
        return solved


def _covariance(distance: np.ndarray, length: float) -> np.ndarray:
    found: np.ndarray = COMMON + np.exp(-distance / length)
    return found


def _surrounded(shapes: Shapes, queries: Shapes, near: Nearest, which: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Whether in every direction neighbours lie on both sides of the query, or it is at most `SLACK` outside them."""
    found = np.ones(len(which), dtype=bool)
    for i in range(shapes.octaves.shape[1]):
        offset = shapes.octaves[near.shape, i] - queries.octaves[:, i, None]
        found &= (covered & (offset <= SLACK)[which]).any(axis=1) & (covered & (offset >= -SLACK)[which]).any(axis=1)
    return found
