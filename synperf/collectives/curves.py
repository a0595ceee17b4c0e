"""Fitted curves: the time of a message as terms of alpha and beta, and what measured times add to them.

The terms hold for any size and number of ranks. At measured numbers of ranks a correction maps the time of the terms to
the measured one, piecewise linear between the logarithms of both and never falling, so that a longer message is never
faster; beyond its ends the last ratio holds. Between measured numbers of ranks those of the nearest are mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

import numpy as np

from .algorithms import Term, wire_share


@dataclass(frozen=True, kw_only=True)
class Correction:
    """Logarithms of measured times over those of the terms, at sizes 2**first, 2**(first + step), ... bytes."""

    ranks: int
    nodes: int
    low_bytes: float
    high_bytes: float
    first: float
    step: float
    log_ratios: tuple[float, ...]

    def sizes(self) -> np.ndarray:
        """The sizes of the knots."""
        found: np.ndarray = np.exp2(self.first + self.step * np.arange(len(self.log_ratios)))
        return found


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Measured over estimated times: what the central 80 % lie between."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One operation of one library on one kind of link.

    `known` is the interval at measured numbers of ranks, `other_ranks` that at others. `copies` says what a token of
    an expert layer is sent to: every rank that has one of its experts, once, or every expert.
    """

    engine: str
    kernel: str
    version: str
    source: str
    operation: str
    dtype: str
    link: str
    terms: tuple[Term, ...]
    corrections: tuple[Correction, ...]
    known: Interval
    other_ranks: Interval
    network: str = ""
    copies: str = "rank"
    provenance: dict[str, str] = field(default_factory=dict)

    @cached_property
    def shapes(self) -> dict[tuple[int, int], Correction]:
        """Corrections by ranks and nodes."""
        return {(one.ranks, one.nodes): one for one in self.corrections}

    @cached_property
    def _mixed(self) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
        return {}

    def terms_s(self, volume: np.ndarray, ranks: int, nodes: int) -> np.ndarray:
        """The time of the fastest term."""
        return fastest(self.terms, self.operation, volume, ranks, nodes)[0]

    def time_s(self, volume: np.ndarray, ranks: int, nodes: int) -> np.ndarray:
        """The time of messages of these sizes."""
        return self.corrected_s(self.terms_s(volume, ranks, nodes), ranks, nodes)

    def corrected_s(self, fast_s: np.ndarray, ranks: int, nodes: int) -> np.ndarray:
        """What times of the terms become as measured."""
        below, above = self._knots(ranks, nodes)
        found: np.ndarray = np.exp(corrected(np.log(fast_s), below, above))
        return found

    def _knots(self, ranks: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
        """Logarithms of the times of the terms, and of the measured ones, at the knots."""
        if (ranks, nodes) not in self._mixed:
            self._mixed[ranks, nodes] = self._made(ranks, nodes)
        return self._mixed[ranks, nodes]

    def _made(self, ranks: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
        if own := self.shapes.get((ranks, nodes)):
            below = np.log(self.terms_s(own.sizes(), ranks, nodes))
            return below, rising(below + np.array(own.log_ratios))
        parts = self._neighbours(ranks)
        sizes = np.unique(np.concatenate([one.sizes() for one, _ in parts]))
        below = np.log(self.terms_s(sizes, ranks, nodes))
        ratios = sum(share * self._ratios(one, sizes) for one, share in parts)
        return below, rising(below + ratios)

    def _ratios(self, one: Correction, sizes: np.ndarray) -> np.ndarray:
        below: np.ndarray = np.log(self.terms_s(sizes, one.ranks, one.nodes))
        ratios: np.ndarray = corrected(below, *self._knots(one.ranks, one.nodes)) - below
        return ratios

    def _neighbours(self, ranks: int) -> list[tuple[Correction, float]]:
        """The corrections of the nearest numbers of ranks and their shares."""
        below = [one for one in self.corrections if one.ranks <= ranks]
        above = [one for one in self.corrections if one.ranks > ranks]
        if not below or not above:
            nearest = max(below, key=_ranks) if below else min(above, key=_ranks)
            return [(nearest, 1.0)]
        low, high = max(below, key=_ranks), min(above, key=_ranks)
        share = log(ranks / low.ranks) / log(high.ranks / low.ranks)
        return [(low, 1 - share), (high, share)]


def fastest(
    terms: Sequence[Term], operation: str, volume: np.ndarray, ranks: int, nodes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The time of the fastest term, which one it is, and the part of it that is latency."""
    latency = [term.latency_s(operation, ranks, nodes) for term in terms]
    slope = [wire_share(operation, term.algorithm, ranks) * term.s_per_byte for term in terms]
    best, which = latency[0] + slope[0] * volume, np.zeros(len(volume), dtype=np.intp)
    for index in range(1, len(terms)):
        time_s = latency[index] + slope[index] * volume
        which[time_s < best] = index
        best = np.minimum(best, time_s)
    return best, which, np.array(latency)[which]


def corrected(logs: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Logarithms of times of the terms, as those of measured ones; beyond the knots the last ratio holds."""
    outside = np.minimum(logs - below[0], 0.0) + np.maximum(logs - below[-1], 0.0)
    found: np.ndarray = np.interp(logs, below, above) + outside
    return found


def rising(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The nearest values, by least squares, that never fall: those that do are pooled with their neighbours."""
    levels: list[list[float]] = []  # of pools: value, weight, number
    for value, weight in zip(values, np.ones(len(values)) if weights is None else weights, strict=True):
        levels.append([float(value), float(weight), 1])
        while len(levels) > 1 and levels[-2][0] > levels[-1][0]:
            last, before = levels.pop(), levels.pop()
            total = last[1] + before[1]
            levels.append([(last[0] * last[1] + before[0] * before[1]) / total, total, last[2] + before[2]])
    return np.repeat([level[0] for level in levels], [int(level[2]) for level in levels])


def _ranks(one: Correction) -> int:
    return one.ranks
