"""One table of measured calls as corrections of a trend: log(measured / trend) and what it says of other calls.

A measured call has its own median. Any other has the residuals of near shapes (`kriging`), each interpolated between
two measured extents; a shape that was measured at other extents is its own nearest one. All else is not covered.
Intervals are central 80 %, from the errors that the table makes on its own rows when it is not shown them: each row
left out, each shape left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .kriging import Covariance, Neighbourhood, nearest
from .shapes import AXES, Axes, Brackets, Ladder, Shapes

LENGTHS = (2.0, 8.0)  # octaves
NUGGETS = (0.02, 0.1, 0.5, 2.0, 10.0)
FIT_ROWS = 4096  # rows that length and nugget are chosen on
FIT_SHAPES = 1024  # shapes that are left out once each
FEWEST_ERRORS = 50  # left-out rows below which near shapes are not answered: nothing says how good that would be
CLOSE_STEP = 1.25  # extents within this ratio run the same kernel, mostly: they differ by what repeats differ by
REPEAT = 0.03  # 80 % half-width of a repeat where a table does not tell; STUDY.md: 1 to 5 %, by engine
LOCAL = 0.75  # share of the neighbours' own errors in the scale of an interval: least interval score, docs/measured.md
_QUANTILES = (0.1, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correction:
    """log(time / trend) of each call, the ends of its 80 % interval, and which calls the table covers.

    `measured_s` is the median of the calls that were measured themselves, else nan.
    """

    log: np.ndarray
    low: np.ndarray
    high: np.ndarray
    covered: np.ndarray
    measured_s: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Near:
    """How near shapes are combined, and the errors of the shapes that were left out."""

    covariance: Covariance
    error: np.ndarray  # of every row |log(measured / predicted)|, nan where it was not predicted
    typical: float
    ends: tuple[float, float]  # 10 % and 90 % of errors, in units of the scale
    own_ends: tuple[float, float]  # the same of a call whose shape was measured at other extents


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Measured calls of one GPU, engine, kernel and format, ordered by shape and extent."""

    axes: Axes
    shapes: Shapes
    ladder: Ladder
    residual: np.ndarray
    time_s: np.ndarray
    spread: np.ndarray
    repeat: float  # 80 % half-width of a repeat, log
    between: tuple[float, float] | None  # where near is None: ends between two extents of a shape; None: not answered
    near: Near | None  # None where near shapes do not better the trend

    @classmethod
    def of(
        cls, family: str, numbers: Mapping[str, np.ndarray], time_s: np.ndarray, spread: np.ndarray,
        trend_s: np.ndarray, widening: float = 1.0,
    ) -> Table:  # fmt: skip
        """The table of calls that each occur once, with their median times and the trend's.

        `widening` multiplies the errors of new shapes: above 1 for a trend that was fitted to these very calls.
        """
        axes = AXES[family]
        shapes, which = Shapes.of(axes, numbers)
        order = np.lexsort([numbers[axes.along], which])
        which, extent = which[order], numbers[axes.along][order]
        ladder, residual = Ladder.of(which, extent), np.log(time_s / trend_s)[order]
        repeat, between = _between(ladder, residual)
        return cls(
            axes=axes, shapes=shapes, ladder=ladder, residual=residual, time_s=time_s[order], spread=spread[order],
            repeat=repeat, between=between, near=_fit(shapes, ladder, residual, extent, widening),
        )  # fmt: skip

    def correct(self, numbers: Mapping[str, np.ndarray]) -> Correction:
        """The corrections of some calls."""
        queries, which = Shapes.of(self.axes, numbers)
        known = np.array([self.shapes.index.get(shape, -1) for shape in queries.index], dtype=np.int64)
        extent = numbers[self.axes.along]
        at = self.ladder.bracket(known[which], extent)
        found = self._along(at)
        rest = np.flatnonzero(~at.is_hit)
        if self.near is not None and len(rest):
            self._around(self.near, queries, which[rest], extent[rest], rest, found)
        return found

    def _along(self, at: Brackets) -> Correction:
        """Measured calls themselves and, where near shapes are not taken, what lies between two of one shape."""
        log = at.at(self.residual)
        half = np.hypot(self.repeat, self.spread[at.upper])
        covered, (low, high) = at.is_hit, (-half, half)
        if self.near is None and self.between is not None:
            scale = self.repeat + np.abs(self.residual[at.upper] - self.residual[at.lower])
            covered = at.covered
            low, high = (
                np.where(at.is_hit, ends, scale * end) for ends, end in zip((low, high), self.between, strict=True)
            )
        measured_s = np.where(at.is_hit, self.time_s[at.upper], np.nan)
        return Correction(log=log, low=log + low, high=log + high, covered=covered, measured_s=measured_s)

    def _around(
        self, near: Near, queries: Shapes, which: np.ndarray, extent: np.ndarray, rows: np.ndarray, into: Correction
    ) -> None:
        """Fills in the rows that were not measured themselves; a shape is its own nearest neighbour."""
        chosen, which = np.unique(which, return_inverse=True)
        part = queries.take(chosen)
        found = Neighbourhood.of(self.shapes, self.ladder, part, nearest(self.shapes, part), which, extent)
        log, scale = found.residual(self.residual, near.covariance), _scale(found, near.error, near.typical)
        low, high = np.where(found.has_own[:, None], near.own_ends, near.ends).T
        into.log[rows], into.covered[rows] = log, found.covered | found.has_own
        into.low[rows], into.high[rows] = log + low * scale, log + high * scale


def _fit(shapes: Shapes, ladder: Ladder, residual: np.ndarray, extent: np.ndarray, widening: float) -> Near | None:
    """The covariance of least mean absolute error on left-out shapes; None where the trend alone errs less."""
    around, rows = _left_out(shapes, ladder, extent)
    step = -(-len(rows) // FIT_ROWS)
    covariance = _least(around.every(step), residual, residual[rows[::step]])
    if covariance is None or around.covered.sum() < FEWEST_ERRORS:
        return None
    missed = residual[rows] - around.residual(residual, covariance)
    error = np.full(len(residual), np.nan)
    error[rows[around.covered]] = np.abs(missed[around.covered])
    typical = max(float(np.nanmean(error)), np.finfo(float).tiny)
    low, high = _ends((missed / _scale(around, error, typical))[around.covered])
    near = Near(
        covariance=covariance,
        error=error,
        typical=typical,
        ends=(low * widening, high * widening),
        own_ends=(low, high),
    )
    return replace(near, own_ends=_own_ends(near, shapes, ladder, residual, extent, rows))


def _own_ends(
    near: Near, shapes: Shapes, ladder: Ladder, residual: np.ndarray, extent: np.ndarray, rows: np.ndarray
) -> tuple[float, float]:
    """Ends of scaled errors of rows that are left out alone, their shape staying; those of new shapes if too few."""
    own = ladder.without_own().take(rows)
    rows, own = rows[own.covered], own.take(own.covered)
    if len(rows) < FEWEST_ERRORS:
        return near.ends
    found = Neighbourhood.of(shapes, ladder, shapes, nearest(shapes, shapes), ladder.shape[rows], extent[rows])
    found = found.with_own(own)
    missed = residual[rows] - found.residual(residual, near.covariance)
    return _ends(missed / _scale(found, near.error, near.typical))


def _left_out(shapes: Shapes, ladder: Ladder, extent: np.ndarray) -> tuple[Neighbourhood, np.ndarray]:
    """The rows of at most `FIT_SHAPES` shapes among the neighbours that they have without their own shape."""
    kept = np.unique(np.linspace(0, len(shapes) - 1, min(len(shapes), FIT_SHAPES)).astype(np.int64))
    rows = np.flatnonzero(np.isin(ladder.shape, kept))
    queries, which = shapes.take(kept), np.searchsorted(kept, ladder.shape[rows])
    near = nearest(shapes, queries, itself=kept)
    return Neighbourhood.of(shapes, ladder, queries, near, which, extent[rows]), rows


def _least(around: Neighbourhood, residual: np.ndarray, own: np.ndarray) -> Covariance | None:
    """Of all lengths and nuggets those of least error; None where no correction errs less than all of them."""
    covered = around.covered
    if not covered.any():
        return None
    tried: list[tuple[float, Covariance | None]] = [(float(np.abs(own[covered]).mean()), None)]
    for length in LENGTHS:
        for nugget in NUGGETS:
            covariance = Covariance(length=length, nugget=nugget)
            missed = (own - around.residual(residual, covariance))[covered]
            tried.append((float(np.abs(missed).mean()), covariance))
    return min(tried, key=lambda one: one[0])[1]


def _scale(around: Neighbourhood, error: np.ndarray, typical: float) -> np.ndarray:
    """How far off an answer is likely to be: mostly what its neighbours were off by, and what the table is."""
    local = around.mean(error)
    return LOCAL * np.where(np.isfinite(local), local, typical) + (1 - LOCAL) * typical


def _between(ladder: Ladder, residual: np.ndarray) -> tuple[float, tuple[float, float] | None]:
    """(80 % half-width of a repeat, ends of errors between two extents), from each row left out of its ladder.

    An error of a mean of two with weights 1 - w and w has 1 + (1 - w)^2 + w^2 times the variance of a repeat. There are
    no ends where the mean of two errs more than the trend.
    """
    at = ladder.without_own()
    at, own = at.take(at.covered), residual[at.covered]
    missed = own - at.at(residual)
    step = ladder.log_extent[at.upper] - ladder.log_extent[at.lower]
    single = np.abs(missed / np.sqrt(1 + (1 - at.weight) ** 2 + at.weight**2))[step <= np.log2(CLOSE_STEP)]
    repeat = float(np.quantile(single, 0.8)) if len(single) >= FEWEST_ERRORS else REPEAT
    if len(own) < FEWEST_ERRORS:
        return repeat, (-1.0, 1.0)
    if np.abs(missed).mean() > np.abs(own).mean():
        return repeat, None
    scale = repeat + np.abs(residual[at.upper] - residual[at.lower])
    return repeat, _ends(missed / np.maximum(scale, np.finfo(float).tiny))


def _ends(scaled: np.ndarray) -> tuple[float, float]:
    """10 % and 90 % of scaled errors, with 0 between them."""
    low, high = np.quantile(scaled, _QUANTILES)
    return min(float(low), 0.0), max(float(high), 0.0)
