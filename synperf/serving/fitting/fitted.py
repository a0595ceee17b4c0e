"""Everything that is fitted to measured points: factors by level, and what they leave by recipe and load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from . import residual
from .labels import Labels
from .residual import Residual, krige
from .solve import Features, Floats, Prior, Target
from .tree import Tree, grow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Factors, and residuals of the times to the first token and between tokens."""

    tree: Tree
    ttft: Residual
    tpot: Residual

    def times(self, labels: Labels, features: Sequence[Features]) -> tuple[Floats, Floats]:
        """Mean times to the first token and between tokens; nan where the engine is not known."""
        ttft, tpot = self.tree.times(labels, features)
        return ttft * np.exp(self.ttft.at(labels)), tpot * np.exp(self.tpot.at(labels))

    def given(self, labels: Labels, features: Sequence[Features], target: Target) -> Fit:
        """The same factors with residuals of these points instead: of all that is known, a few new ones among them."""
        ttft, tpot = _residuals(self.tree, labels, features, target)
        return replace(self, ttft=ttft, tpot=tpot)


def fit(labels: Labels, features: Sequence[Features], target: Target, prior: Prior | None = None) -> Fit:
    """Factors and residuals of points; features are by policy."""
    return given_tree(grow(labels, features, target, prior), labels, features, target)


def given_tree(tree: Tree, labels: Labels, features: Sequence[Features], target: Target) -> Fit:
    """Factors as they are, and the residuals that they leave of points."""
    ttft, tpot = _residuals(tree, labels, features, target)
    return Fit(tree=tree, ttft=ttft, tpot=tpot)


def _residuals(
    tree: Tree, labels: Labels, features: Sequence[Features], target: Target
) -> tuple[Residual, Residual]:  # fmt: skip
    ttft, tpot = tree.times(labels, features)
    return (
        krige(labels, np.log(target.ttft_s / ttft), residual.TTFT),
        krige(labels, np.log(target.tpot_s / tpot), residual.TPOT),
    )


def left_out(
    labels: Labels, features: Sequence[Features], target: Target, parts: Iterable[npt.NDArray[np.bool_]]
) -> tuple[Floats, Floats]:  # fmt: skip
    """Times of the points of each part by what is fitted to all others; nan of points in none."""
    ttft, tpot = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for out in parts:
        made = fit(labels.take(~out), [one.take(~out) for one in features], target.take(~out))
        ttft[out], tpot[out] = made.times(labels.take(out), [one.take(out) for one in features])
    return ttft, tpot
