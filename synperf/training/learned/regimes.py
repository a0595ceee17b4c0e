"""The spread of errors on shapes that no weight was fitted to, by regime: a format and a band of predicted times.

Groups (GPU, engine, kernel) differ in how far their errors go, and each has too few held-out shapes of its own to tell
how the errors are distributed. So the errors of a group and band are divided by their size there, the 80 % quantile of
|log(measured / predicted)| over all its rows; the ends of the interval are quantiles of what is left, over all held-out
rows of the regime; and each group gets them back times its own size. Errors of one shape go together: a regime has
thousands of rows of some tens of shapes, which say as much as their number, so its quantiles are drawn towards those of
all regimes. Calls beyond the range that the rows of their group have are worse known: their errors stand apart, and the
ends of the interval are moved outwards there by how much further these go. Where errors grow with the distance to
measured shapes, all this is done with errors as they would be at the usual distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from ...estimators.weights import Regime
from ...numeric import concatenated

LEAST_ROWS = 1000  # fewer say nothing about the ends of a distribution
SHAPES = 30  # as many held-out shapes of a regime count as much as all other regimes
LEAST_OF_GROUP = 100  # rows that tell a size
BANDS = ((10e-6, "up to 10 us"), (100e-6, "up to 100 us"), (np.inf, "above 100 us"))
TAIL = 0.1
NEVER = 1e30  # seconds: the last band has no end, and JSON no infinity
LEAST_SIZE = 1e-3
BEYOND = 0.9  # of the errors outside the measured range, which may go further still


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Errors of one group: predicted times, log(measured / predicted), rows new to the weights, and their shapes.

    `outside` are rows beyond the range that the network which tells the errors has seen of the group, `octaves` how far
    their shapes are from those that it has seen, and `wider` what errors were divided by for that.
    """

    time_s: np.ndarray
    apart: np.ndarray
    held_out: np.ndarray
    shape: np.ndarray  # a number per shape
    outside: np.ndarray
    octaves: np.ndarray
    wider: np.ndarray

    @property
    def inside(self) -> Spread:
        """Without the rows that are outside; all rows where too few are left to tell a size."""
        return self if (~self.outside).sum() < LEAST_OF_GROUP else self.take(~self.outside)

    def take(self, rows: np.ndarray) -> Spread:
        """Some rows."""
        return Spread(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def beyond(every: Mapping[str, Mapping[str, Spread]]) -> dict[str, float]:
    """By format: how much further nine in ten errors outside the measured range go than those of their group inside.

    0 where they go no further, and where nearly all calls are outside, whose errors tell the regimes themselves. A
    format with few rows outside has that of all together.
    """
    further = {part: _further(groups) for part, groups in every.items()}
    shared = _beyond(np.concatenate(list(further.values())))
    told = {part: _beyond(apart) if len(apart) >= LEAST_ROWS else shared for part, apart in further.items()}
    return {part: told[part] if _num_inside(groups) >= LEAST_ROWS else 0.0 for part, groups in every.items()}


def _beyond(further: np.ndarray) -> float:
    return _rounded(max(np.quantile(further, BEYOND), 0.0)) if len(further) >= LEAST_ROWS else 0.0


def _further(groups: Mapping[str, Spread]) -> np.ndarray:
    """How much further the errors of rows outside go than those inside, of the groups that have both.

    Without a sign: which way errors go there nobody knows.
    """
    own = [s for name, s in groups.items() if "*" not in name and s.inside is not s]
    return np.concatenate([np.empty(0), *(_further_of(s.take(s.outside), size(s.inside.apart)) for s in own)])


def _further_of(s: Spread, usual: float) -> np.ndarray:
    found: np.ndarray = (np.abs(s.apart) - usual) * s.wider
    return found


def _num_inside(groups: Mapping[str, Spread]) -> int:
    return sum(int((~s.outside).sum()) for name, s in groups.items() if "*" not in name)


def regimes(
    name: str, groups: Mapping[str, Spread], elsewhere: np.ndarray | None = None, tail: float = TAIL
) -> dict[str, tuple[Regime, ...]]:
    """The regimes of every group, `name` first in theirs; `""` has those of a group of the usual size.

    A band with less than `LEAST_ROWS` held-out rows in all is joined with the next longer one, the last with the one
    before. The ends are drawn towards those of `elsewhere`, the scaled errors of all regimes: own shapes count as much
    as so many of `SHAPES` others. `tail` is the share of errors beyond either end.
    """
    found: dict[str, list[Regime]] = {group: [] for group in (*groups, "")}
    for start, end, said in _bands(groups):
        sizes = {group: _size(spread, start, end) for group, spread in groups.items()}
        left = scaled(groups, start, end)
        low, high = np.quantile(left, (tail, 1 - tail)) if len(left) else (0.0, 0.0)
        if elsewhere is not None:
            shapes = _num_shapes(groups, start, end)
            own, others = shapes / (shapes + SHAPES), np.quantile(elsewhere, (tail, 1 - tail))
            low, high = own * np.array([low, high]) + (1 - own) * others
        for group, size in (sizes | {"": float(np.median(list(sizes.values())))}).items():
            found[group].append(
                Regime(f"{name}: {said}", min(end, NEVER), len(left), _rounded(low * size), _rounded(high * size))
            )
    return {group: tuple(own) for group, own in found.items()}


def scaled_by_band(groups: Mapping[str, Spread]) -> np.ndarray:
    """Errors of the held-out rows of all bands, in units of the size of errors in their group and band."""
    return np.concatenate([scaled(groups, start, end) for start, end, _ in _bands(groups)])


def scaled(groups: Mapping[str, Spread], start: float, end: float) -> np.ndarray:
    """Errors of the held-out rows of a band in units of the size of errors in their group."""
    own = [s.apart[_held(s, start, end)] / _size(s, start, end) for name, s in groups.items() if "*" not in name]
    return np.concatenate(own)


def scaled_rows(s: Spread) -> np.ndarray:
    """(rows,) errors of a group in units of their size in the band."""
    found = np.empty(len(s.apart))
    for start, end in zip((0.0, *(end for end, _ in BANDS)), (end for end, _ in BANDS), strict=False):
        inside = (s.time_s > start) & (s.time_s <= end)
        found[inside] = s.apart[inside] / _size(s, start, end) if inside.any() else 0.0
    return found


def widening(groups: Mapping[str, Spread]) -> dict[str, float]:
    """How much further errors go on held-out rows than on those that were fitted to, of every group; 1 at least.

    A group with few held-out rows has the ratio of all groups together.
    """
    every = Spread(**concatenated(list(groups.values())))
    return {name: _rounded(_widening(s if s.held_out.sum() >= LEAST_OF_GROUP else every)) for name, s in groups.items()}


def _widening(s: Spread) -> float:
    held, fitted = (float(np.quantile(np.abs(s.apart[rows]), 0.8)) for rows in (s.held_out, ~s.held_out))
    return max(held / max(fitted, LEAST_SIZE), 1.0)


def _bands(groups: Mapping[str, Spread]) -> list[tuple[float, float, str]]:
    """(start, end, what it is called) of the bands that have rows enough."""
    joined: list[tuple[float, float, str]] = []
    start = 0.0
    for end, said in BANDS:
        rows = sum(int(_held(s, start, end).sum()) for group, s in groups.items() if "*" not in group)
        if rows >= LEAST_ROWS:
            joined.append((start, end, said))
            start = end
    if not joined:
        return [(0.0, np.inf, "all times")]
    first, _, said = joined[-1]
    return [*joined[:-1], (first, np.inf, said)]


def _num_shapes(groups: Mapping[str, Spread], start: float, end: float) -> int:
    """Distinct shapes among the held-out rows of a band."""
    return len(np.unique(np.concatenate([s.shape[_held(s, start, end)] for s in groups.values()])))


def _held(s: Spread, start: float, end: float) -> np.ndarray:
    held: np.ndarray = s.held_out & (s.time_s > start) & (s.time_s <= end)
    return held


def _size(s: Spread, start: float, end: float) -> float:
    """How far errors go in the band, or in all where the band has few rows."""
    inside = (s.time_s > start) & (s.time_s <= end)
    chosen = s.apart[inside] if inside.sum() >= LEAST_OF_GROUP else s.apart
    return size(chosen)


def size(apart: np.ndarray) -> float:
    """How far errors go: their 80 % quantile, and at least `LEAST_SIZE`."""
    return max(float(np.quantile(np.abs(apart), 0.8)), LEAST_SIZE)


def _rounded(value: float) -> float:
    return round(float(value), 5)  # JSON takes no number of NumPy's
