"""Intervals on GPUs that nobody measured, from networks that were trained without the GPUs that they are tried on.

GPUs whose kin is among the training rows are known better than others, but all that were measured so are near twins:
where there are others, these alone tell how far errors go. Errors differ from GPU to GPU by more than rows tell, so the
tails are those with which the errors of the other cases give intervals that hold 80 % of a case that they have not
seen, on average, and 70 % of any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ...estimators.weights import Regime
from .regimes import TAIL, Spread, regimes_of_all

TAILS = (TAIL, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
MEANT, LEAST = 0.8, 0.7  # of the rows of a case that is left out, within the intervals of the others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """Rows of GPUs left out: predicted times, log(measured / predicted), and this by the middle of all kernels."""

    name: str
    has_kin: bool
    time_s: np.ndarray
    apart: np.ndarray
    middle: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unseen:
    """Regimes by what is known of a GPU, and the score of every case within the intervals that the others give."""

    regimes: dict[str, tuple[Regime, ...]]
    left_out: dict[str, dict[str, float]]


def unseen(part: str, cases: Sequence[Case]) -> Unseen:
    """Of a GPU that nobody measured (empty), and of a kernel that nobody measured (`*`), which is no better known."""
    apart = [case for case in cases if not case.has_kin]
    apart = apart if len(apart) > 1 else list(cases)  # one case does not tell how cases differ
    tail = _tail(apart)
    own = regimes_of_all(f"{part} on an unseen GPU", _spread(apart), tail)
    middle = replace(_spread(apart), apart=np.concatenate([case.middle for case in apart]))
    of_middle = regimes_of_all(f"{part}, a kernel that nobody measured", middle)
    return Unseen(
        regimes={"": own, "*": tuple(_wider(a, b) for a, b in zip(of_middle, own, strict=True))},
        left_out={case.name: _score(case, _others(case, apart), tail) for case in cases},
    )


def _wider(regime: Regime, other: Regime) -> Regime:
    return msgspec.structs.replace(regime, low=min(regime.low, other.low), high=max(regime.high, other.high))


def _tail(apart: Sequence[Case]) -> float:
    """The largest tail with which left-out cases hold what they should on average, and no case much less.

    The smallest where none does.
    """
    for tail in TAILS:
        held = [_inside(case, _others(case, apart), tail).mean() for case in apart]
        if np.mean(held) >= MEANT and min(held) >= LEAST:
            return tail
    return TAILS[-1]


def _others(case: Case, apart: Sequence[Case]) -> Sequence[Case]:
    """The other cases; all where there is no other."""
    return [c for c in apart if c is not case] or apart


def _inside(case: Case, others: Sequence[Case], tail: float) -> np.ndarray:
    """Which rows of a case are within the intervals that the others give."""
    ends = regimes_of_all(case.name, _spread(others), tail)
    at = np.searchsorted([r.up_to_s for r in ends[:-1]], case.time_s)
    low, high = (np.array([getattr(r, end) for r in ends])[at] for end in ("low", "high"))
    inside: np.ndarray = (low <= case.apart) & (case.apart <= high)
    return inside


def _score(case: Case, others: Sequence[Case], tail: float) -> dict[str, float]:
    error, inside = np.abs(np.exp(-case.apart) - 1), _inside(case, others, tail)
    found = {"rows": len(error), "mape": error.mean(), "median": np.median(error), "coverage": inside.mean()}
    return {name: round(float(value), 5) for name, value in found.items()}


def _spread(cases: Iterable[Case]) -> Spread:
    """The rows of cases, all as held-out ones."""
    some = list(cases)
    columns = {name: np.concatenate([getattr(case, name) for case in some]) for name in ("time_s", "apart")}
    size = len(columns["apart"])
    every = np.ones(size, dtype=bool)
    return Spread(
        **columns,
        held_out=every,
        shape=np.zeros(size, dtype=np.uint32),
        outside=~every,
        octaves=np.zeros(size),
        wider=np.ones(size),
    )
