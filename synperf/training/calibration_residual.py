"""What a network's correction lacks on some rows of one kernel and format: kernel ridge regression in closed form.

The covariance of two rows is a sum: a shift that all share, one of each engine, products of the scaled inputs, products
of the last hidden layer (a fine-tune of the last layer, pulled to no change), bumps in the shape's extents or in all
inputs, and peaks in all inputs: times of kernels that choose among tiles and splits jump, where bumps would swing.
A candidate says how large each is in log(time), 0 leaves a part out, and how noisy rows are. Odd rows weigh less, as
under Student's t.
Source: Rasmussen, Williams, "Gaussian Processes for Machine Learning", 2006, sections 2.2, 4.2 and 9.3.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import sqrt

import numpy as np

from ..estimators.calibrated import bumps, peaks, scaled_inputs
from ..estimators.calibration_file import Residual
from ..estimators.network import Network
from ..kernels import KernelFamily
from .calibration_tuning import Part

BY_ANOTHER_NAME = ("requests", "rank_inter", "rank_experts")  # inputs that are a field of a call, or its rank's part
NOISE = 0.08  # of log(time): what repeats and sources of one kernel differ by
FREEDOM = 3.0  # of Student's t
ROUNDS = 4  # of reweighting
LENGTH = 0.25  # of a bump, in ranges of the training
NEAR = 0.2  # of a bump over all inputs, and of a peak, in ranges of the training per input
OWN = 0.25  # how much more a bump counts for its own engine
_DIGITS = 5  # of a place among all inputs, which a file has hundreds of
CUT = 0.1  # how far beyond the residuals of its rows a correction may go


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Standard deviations of the parts, and of what is noise."""

    name: str
    shift: float = 0.1
    engine: float = 0.05
    inputs: float = 0.0
    hidden: float = 0.0
    bump: float = 0.0
    near: float = 0.0
    peak: float = 0.0
    noise: float = NOISE


CANDIDATES = (
    Candidate(name="scale"),
    Candidate(name="ridge", inputs=0.05),
    Candidate(name="fine-tune", hidden=0.05),
    Candidate(name="kriging", bump=0.1),
    Candidate(name="near, and linear", inputs=0.035, hidden=0.1, near=0.2),
    Candidate(name="peaks, and linear", inputs=0.035, hidden=0.1, peak=0.2, noise=0.04),
    Candidate(name="peaks, of noisy rows", inputs=0.035, hidden=0.1, peak=0.2, noise=0.12),
    Candidate(name="all parts, weak", shift=0.05, engine=0.03, inputs=0.02, hidden=0.03, bump=0.04),
    Candidate(name="all parts", inputs=0.035, hidden=0.06, bump=0.08),
    Candidate(name="all parts, strong", inputs=0.05, hidden=0.1, bump=0.12),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """Rows of one kernel and format as a residual part sees them."""

    engine: np.ndarray  # text
    scaled: np.ndarray  # (rows, D)
    hidden: np.ndarray  # (rows, H)
    points: np.ndarray  # (rows, C) scaled coordinates

    @classmethod
    def of(cls, kind: KernelFamily, network: Network, engine: np.ndarray, logs: np.ndarray, hidden: np.ndarray) -> View:
        """What a network makes of rows."""
        scaled = scaled_inputs(kind, network, logs[:, : len(network.inputs)])
        columns = [network.inputs.index(name) for name in coordinates(kind, network)]
        own = hidden[:, : len(network.weights[-1])].astype(np.float64)
        return cls(engine=engine.astype(str), scaled=scaled, hidden=own, points=scaled[:, columns])

    def take(self, rows: np.ndarray) -> View:
        """Some rows."""
        return View(
            engine=self.engine[rows], scaled=self.scaled[rows], hidden=self.hidden[rows], points=self.points[rows]
        )


def coordinates(kind: KernelFamily, network: Network) -> tuple[str, ...]:
    """The inputs that bumps are placed by: fields of the call."""
    fields = (*kind.field_names(), *BY_ANOTHER_NAME)
    return tuple(name for name in network.inputs if name in fields)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standard:
    """How hidden units are centred and scaled, and inputs centred: by the calibration rows themselves."""

    center: np.ndarray
    scale: np.ndarray
    middle: np.ndarray

    @classmethod
    def of(cls, view: View) -> Standard:
        """Of the rows; a unit that hardly moves is not blown up."""
        spread = view.hidden.std(axis=0)
        scale = (spread + 0.05 * view.hidden.std() + 1e-6) * np.sqrt(view.hidden.shape[1])
        return cls(center=view.hidden.mean(axis=0), scale=scale, middle=view.scaled.mean(axis=0))

    def hidden(self, view: View) -> np.ndarray:
        """(rows, H) whose products are about 1."""
        found: np.ndarray = (view.hidden - self.center) / self.scale
        return found

    def inputs(self, view: View) -> np.ndarray:
        """(rows, D) about 0."""
        found: np.ndarray = view.scaled - self.middle
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Products of rows with rows, by part: what candidates weigh differently."""

    same: np.ndarray
    inputs: np.ndarray
    hidden: np.ndarray
    bump: np.ndarray
    near: np.ndarray
    peak: np.ndarray

    @classmethod
    def of(cls, standard: Standard, left: View, right: View) -> Parts:
        """(left rows, right rows) of each part."""
        return cls(
            same=(left.engine[:, None] == right.engine[None, :]).astype(np.float64),
            inputs=standard.inputs(left) @ standard.inputs(right).T,
            hidden=standard.hidden(left) @ standard.hidden(right).T,
            bump=bumps(left.points, right.points, LENGTH),
            near=bumps(left.scaled, right.scaled, _near_length(left)),
            peak=peaks(left.scaled, right.scaled, _peak_length(left)),
        )

    def take(self, left: np.ndarray, right: np.ndarray) -> Parts:
        """Some rows of either side."""
        both = np.ix_(left, right)
        return Parts(**{f.name: getattr(self, f.name)[both] for f in fields(self)})

    def covariance(self, c: Candidate) -> np.ndarray:
        """The sum of the parts of a candidate."""
        total = c.shift**2 + c.engine**2 * self.same
        if c.inputs:
            total = total + c.inputs**2 * self.inputs
        if c.hidden:
            total = total + c.hidden**2 * self.hidden
        if c.bump:
            total = total + c.bump**2 * (1.0 + OWN * self.same) * self.bump
        if c.near:
            total = total + c.near**2 * (1.0 + OWN * self.same) * self.near
        if c.peak:
            total = total + c.peak**2 * (1.0 + OWN * self.same) * self.peak
        return total


def solve(covariance: np.ndarray, residual: np.ndarray, noise: float) -> np.ndarray:
    """(rows,) weights of the rows: those of ridge regression, reweighted for odd rows."""
    weight = np.ones(len(residual))
    for _ in range(ROUNDS):
        alpha = np.linalg.solve(covariance + np.diag(noise**2 / weight), residual)
        rest = residual - covariance @ alpha
        weight = np.maximum((FREEDOM + 1.0) / (FREEDOM + (rest / noise) ** 2), 0.02)
    found: np.ndarray = alpha
    return found


def limits(residual: np.ndarray) -> tuple[float, float]:
    """What a correction is cut to."""
    return float(min(residual.min(), 0.0)) - CUT, float(max(residual.max(), 0.0)) + CUT


def residual_part(c: Candidate, view: View, residual: np.ndarray, part: Part) -> Residual:
    """The fit of a candidate to all rows of a kernel and format, as a file holds it; `part` is one of its parts."""
    standard = Standard.of(view)
    alpha = solve(Parts.of(standard, view, view).covariance(c), residual, c.noise)
    by_input = c.inputs**2 * (standard.inputs(view).T @ alpha)
    by_hidden = c.hidden**2 * (standard.hidden(view).T @ alpha) / standard.scale
    shared = c.shift**2 * alpha.sum() - standard.middle @ by_input - standard.center @ by_hidden
    engines = sorted(set(view.engine.tolist()))
    places, points, length = _places(c, view, part)
    low, high = limits(residual)
    return Residual(
        network=part.network_name,
        shifts={e: float(shared + c.engine**2 * alpha[view.engine == e].sum()) for e in engines},
        input_weights=tuple(by_input.tolist()),
        hidden_weights=tuple(by_hidden.tolist()),
        coordinates=places,
        points=tuple(map(tuple, points.tolist())),
        point_engines=tuple(view.engine.tolist()) if places else (),
        heights=tuple((max(c.bump, c.near, c.peak) ** 2 * alpha).tolist()) if places else (),
        length=length,
        peaked=bool(c.peak),
        own=OWN,
        low=low,
        high=high,
    )


def _places(c: Candidate, view: View, part: Part) -> tuple[tuple[str, ...], np.ndarray, float]:
    """The inputs that bumps are placed by, where they are, how far they reach; no candidate has bumps of two kinds."""
    if c.near or c.peak:
        length = _peak_length(view) if c.peak else _near_length(view)
        return part.network.inputs, view.scaled.round(_DIGITS), length
    if c.bump and view.points.shape[1]:
        return coordinates(part.kind, part.network), view.points, LENGTH
    return (), np.empty((0, 0)), LENGTH


def _near_length(view: View) -> float:
    """Of a bump over all inputs: distances grow with the root of their number."""
    return NEAR * sqrt(view.scaled.shape[1])


def _peak_length(view: View) -> float:
    """Of a peak: its distances grow with the number of inputs."""
    return NEAR * len(view.scaled.T)
