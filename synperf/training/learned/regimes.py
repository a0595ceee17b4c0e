"""The spread of errors on shapes that no weight was fitted to, by regime: a format and a band of predicted times.

Groups (GPU, engine, kernel) differ in how far their errors go, and each has too few held-out shapes of its own to tell
how the errors are distributed. So the errors of a group and band are divided by their size there, the 80 % quantile of
|log(measured / predicted)| over all its rows; the ends of the interval are quantiles of what is left, over all held-out
rows of the regime; and each group gets them back times its own size. A size takes fewer rows than quantiles do: where
bands are joined for these, each keeps sizes of its own, since errors of short calls may go several times as far as
those of long ones. Errors of one shape go together: a regime has thousands of rows of some tens of shapes, which say as
much as their number, so its quantiles are drawn towards those of all regimes. Calls beyond the range that the rows of
their group have are worse known: their errors stand apart, and the ends of the interval are moved outwards there by how
much further these go. Where errors grow with the distance to measured shapes, all this is done with errors as they
would be at the usual distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ...estimators.weights import Regime
from ...numeric import concatenated

LEAST_ROWS = 1000  # fewer say nothing about the ends of a distribution
SHAPES = 30  # as many held-out shapes of a regime count as much as all other regimes
LEAST_OF_GROUP = 100  # rows that tell a size
TAIL = 0.1
NEVER = 1e30  # seconds: the last band has no end, and JSON no infinity
LEAST_SIZE = 1e-3
BEYOND = 0.9  # of the errors outside the measured range, which may go further still


class Band(NamedTuple):
    """Predicted times from `start_s`, which is not among them, to `end_s`."""

    start_s: float
    end_s: float
    said: str

    def holds(self, time_s: np.ndarray) -> np.ndarray:
        """(rows,) whether a time is in the band."""
        return (time_s > self.start_s) & (time_s <= self.end_s)


BANDS = (Band(0.0, 10e-6, "up to 10 us"), Band(10e-6, 100e-6, "up to 100 us"), Band(100e-6, np.inf, "above 100 us"))
ALL_TIMES = Band(0.0, np.inf, "all times")


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
    name: str, groups: Mapping[str, Spread], elsewhere: np.ndarray | None = None
) -> dict[str, tuple[Regime, ...]]:
    """The regimes of every group, `name` first in theirs; `""` has those of a group of the usual size.

    The quantiles of a band with less than `LEAST_ROWS` held-out rows in all are those of it and the next longer one,
    of the last band those of it and the one before; sizes are of each band by itself. Quantiles are drawn towards those
    of `elsewhere`, the scaled errors of all regimes: own shapes count as much as so many of `SHAPES` others.
    """
    found: dict[str, list[Regime]] = {group: [] for group in (*groups, "")}
    for joined in _joined(_own(groups)):
        left, (low, high) = _quantiles(groups, joined, elsewhere)
        for band in _within(joined, _own(groups)):
            sizes = {group: _size(s, band, joined) for group, s in groups.items()}
            for group, size in (sizes | {"": float(np.median(list(sizes.values())))}).items():
                found[group].append(_regime(name, band, left, low * size, high * size))
    return {group: tuple(own) for group, own in found.items()}


def regimes_of_all(name: str, s: Spread, tail: float = TAIL) -> tuple[Regime, ...]:
    """Regimes of rows of groups that are not told apart, with a share `tail` of errors beyond either end.

    Such a row may be of any group, whose own sizes nobody knows: the ends are those of the rows as they are.
    """
    found = []
    for band in _joined([s]):
        left = s.apart[s.held_out & band.holds(s.time_s)]
        low, high = np.quantile(left, (tail, 1 - tail)) if len(left) else (0.0, 0.0)
        found.append(_regime(name, band, len(left), low, high))
    return tuple(found)


def scaled_by_band(groups: Mapping[str, Spread]) -> np.ndarray:
    """Errors of the held-out rows of all bands, in units of the size of errors in their group and band."""
    return np.concatenate([_scaled(groups, joined) for joined in _joined(_own(groups))])


def scaled_rows(s: Spread) -> np.ndarray:
    """(rows,) errors of a group in units of their size in the band."""
    found = np.empty(len(s.apart))
    for band in BANDS:
        inside = band.holds(s.time_s)
        found[inside] = s.apart[inside] / _size(s, band) if inside.any() else 0.0
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


def _regime(name: str, band: Band, rows: int, low: float, high: float) -> Regime:
    return Regime(f"{name}: {band.said}", min(band.end_s, NEVER), rows, _rounded(low), _rounded(high))


def _quantiles(
    groups: Mapping[str, Spread], joined: Band, elsewhere: np.ndarray | None
) -> tuple[int, tuple[float, float]]:
    """(held-out rows, ends in units of sizes) of some bands together."""
    left = _scaled(groups, joined)
    low, high = np.quantile(left, (TAIL, 1 - TAIL)) if len(left) else (0.0, 0.0)
    if elsewhere is None:
        return len(left), (low, high)
    shapes = _num_shapes(groups, joined)
    own, others = shapes / (shapes + SHAPES), np.quantile(elsewhere, (TAIL, 1 - TAIL))
    return len(left), (own * low + (1 - own) * others[0], own * high + (1 - own) * others[1])


def _scaled(groups: Mapping[str, Spread], joined: Band) -> np.ndarray:
    """Errors of the held-out rows of some bands in units of their size in group and band."""
    own = _own(groups)
    each = [(s, s.held_out & band.holds(s.time_s), band) for band in _within(joined, own) for s in own]
    return np.concatenate([s.apart[held] / _size(s, band, joined) for s, held, band in each])


def _own(groups: Mapping[str, Spread]) -> list[Spread]:
    """Those of the groups that count each row once: without the middles of several."""
    return [s for name, s in groups.items() if "*" not in name]


def _joined(own: Sequence[Spread]) -> list[Band]:
    """The bands that have rows enough for quantiles, once neighbours are joined."""

    def is_told(band: Band) -> bool:
        return sum(int((s.held_out & band.holds(s.time_s)).sum()) for s in own) >= LEAST_ROWS

    return _join(BANDS, is_told) or [ALL_TIMES]


def _within(joined: Band, own: Sequence[Spread]) -> list[Band]:
    """The bands inside that have rows enough of some group for a size, once neighbours are joined."""

    def is_told(band: Band) -> bool:
        return any(band.holds(s.time_s).sum() >= LEAST_OF_GROUP for s in own)

    inside = [band for band in BANDS if joined.start_s <= band.start_s and band.end_s <= joined.end_s]
    return _join(inside, is_told) or [joined]


def _join(bands: Sequence[Band], is_told: Callable[[Band], bool]) -> list[Band]:
    """Each band that is not told joined with the next longer one, the last with the one before; none where none is."""
    found: list[Band] = []
    start_s = bands[0].start_s
    for band in bands:
        one = band._replace(start_s=start_s)
        if is_told(one):
            found.append(one)
            start_s = one.end_s
    return [*found[:-1], found[-1]._replace(end_s=bands[-1].end_s)] if found else []


def _num_shapes(groups: Mapping[str, Spread], band: Band) -> int:
    """Distinct shapes among the held-out rows of a band."""
    return len(np.unique(np.concatenate([s.shape[s.held_out & band.holds(s.time_s)] for s in groups.values()])))


def _size(s: Spread, *bands: Band) -> float:
    """How far errors go in the first of the bands that has rows enough of the group, or in all."""
    for band in bands:
        inside = band.holds(s.time_s)
        if inside.sum() >= LEAST_OF_GROUP:
            return size(s.apart[inside])
    return size(s.apart)


def size(apart: np.ndarray) -> float:
    """How far errors go: their 80 % quantile, and at least `LEAST_SIZE`."""
    return max(float(np.quantile(np.abs(apart), 0.8)), LEAST_SIZE)


def _rounded(value: float) -> float:
    return round(float(value), 5)  # JSON takes no number of NumPy's
