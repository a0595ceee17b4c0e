"""How errors on new shapes fall with the rows that a network is fitted to: as a power of their number.

Networks that miss some shapes have fewer rows than the one that answers, so they err further. By how much is measured
on one that has half of the rows of another and misses the same shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...estimators.network import Network
from .data import Table
from .judged import errors
from .regimes import LEAST_OF_GROUP, size
from .stages import half_of_fold, num_folds, without_fold
from .sure import sure


def fall(parts: Iterable[tuple[str, Table, Mapping[str, Network], int]]) -> float:
    """The power, the mean of all shapes of all formats (name, rows, networks, number of shapes) of a family."""
    found = np.concatenate([np.empty(0), *(_of_part(*part) for part in parts)])
    return sure(float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))) if len(found) > 1 else 0.0


def _of_part(part: str, data: Table, networks: Mapping[str, Network], num_shapes: int) -> np.ndarray:
    """(shapes,) that of each shape which both networks miss; none where there are no such networks."""
    if half_of_fold(part) not in networks:
        return np.empty(0)
    _, others = data.folds(num_folds(num_shapes))[0]
    rows = data.take(~others)
    half, whole = (errors(networks[name], rows, known=True)[1] for name in (half_of_fold(part), without_fold(part, 0)))
    is_told = np.isfinite(half) & np.isfinite(whole)
    own = [is_told & (rows.shape == shape) for shape in np.unique(rows.shape)]
    return np.array([np.log2(size(half[of]) / size(whole[of])) for of in own if of.sum() >= LEAST_OF_GROUP])
