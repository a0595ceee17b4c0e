"""What factors leave: logarithms of measured over modelled times, by simple kriging within a stack.

They are taken for a Gaussian process of mean 0 over points, whose covariance is a sum of terms: what all points of a
family share on a stack, those of a recipe, of a version of it; and parts that fade with the distance of their loads in
octaves. One measured point of a recipe therefore moves all of it, by how much recipes differ in general against how
much their points do; far from any measured point nothing is left. Points that fit badly count less (a noise that grows
with what they are off, as in a robust fit).
Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, sections 2.2 and 5.4.2; Cressie,
"Statistics for Spatial Data", 1993, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .labels import FAMILY, FORMAT, RECIPE, STACK, VERSION, Labels, codes
from .solve import Floats

_ROUNDS = 4  # of the noise of points that fit badly
_FITS = 1.5  # standard deviations of the noise from which on a point fits badly


@dataclass(frozen=True, slots=True, kw_only=True)
class Covariance:
    """Variances of terms, of logarithms; `*_near` fade over `lengths`, in octaves of `Labels.loads`."""

    family: float
    recipe: float
    version: float
    format_near: float
    recipe_near: float
    noise: float
    lengths: tuple[float, ...]

    def between(self, one: Labels, other: Labels) -> Floats:
        """Of every point of `one` (rows) with every point of `other` (columns)."""
        apart = (one.loads[:, None] - other.loads[None]) / np.array(self.lengths)
        near = np.exp(-np.sqrt((apart**2).sum(axis=2)))
        found: Floats = (
            _same(one, other, FAMILY) * self.family
            + _same(one, other, FORMAT) * self.format_near * near
            + _same(one, other, RECIPE) * (self.recipe + self.recipe_near * near)
            + _same(one, other, VERSION) * self.version
        )
        return found


def _same(one: Labels, other: Labels, names: tuple[str, ...]) -> Floats:
    known: dict[tuple[str, ...], int] = {}
    left, right = codes(one.keys(names), known), codes(other.keys(names), known)
    found: Floats = (left[:, None] == right[None]).astype(float)
    return found


# Chosen by the leave-one-out error of the fit half; a factor of 2 in any moves it by less than a tenth.
TPOT = Covariance(
    family=0.005, recipe=0.005, version=0.003, format_near=0.02, recipe_near=0.015, noise=0.003,
    lengths=(3.0, 2.0, 4.0, 2.0, 2.0),
)  # fmt: skip
TTFT = Covariance(
    family=0.015, recipe=0.015, version=0.009, format_near=0.06, recipe_near=0.045, noise=0.009,
    lengths=(3.0, 2.0, 4.0, 2.0, 2.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residual:
    """Measured points with their weights in the answer."""

    covariance: Covariance
    labels: Labels
    weights: Floats

    def at(self, labels: Labels) -> Floats:
        """The logarithm of measured over modelled time that is expected of points."""
        found = np.zeros(len(labels))
        measured = self.labels.groups(STACK)
        for key, rows in labels.groups(STACK).items():
            if (own := measured.get(key)) is not None:
                between = self.covariance.between(labels.take(rows), self.labels.take(own))
                found[rows] = between @ self.weights[own]
        return found


def krige(labels: Labels, log_ratios: Floats, covariance: Covariance) -> Residual:
    """The residual of measured points; their logarithms of measured over modelled time are finite."""
    weights = np.zeros(len(labels))
    for rows in labels.groups(STACK).values():
        own = labels.take(rows)
        weights[rows] = _solved(covariance.between(own, own), log_ratios[rows], covariance.noise)
    return Residual(covariance=covariance, labels=labels, weights=weights)


def _solved(between: Floats, values: Floats, noise: float) -> Floats:
    noises: Floats = np.full(len(values), noise)
    for _ in range(_ROUNDS):
        off = noises * np.linalg.solve(between + np.diag(noises), values)
        noises = noise * np.maximum(1.0, np.abs(off) / (_FITS * np.sqrt(noise)))
    return np.linalg.solve(between + np.diag(noises), values).astype(np.float64)
