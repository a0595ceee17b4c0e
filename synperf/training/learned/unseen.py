"""Intervals on GPUs that nobody measured, from networks that were trained without the GPUs that they are tried on.

GPUs whose kin is among the training rows are known better than others, so the two kinds have intervals of their own.
Errors differ from GPU to GPU by more than rows tell, so the tails of each kind are those with which the errors of the
other cases give intervals that hold 80 % of a case that they have not seen, on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...estimators.learned import KIN
from ...estimators.weights import Regime
from .regimes import TAIL, Spread, regimes

TAILS = (TAIL, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
MEANT = 0.8


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
    """Of a GPU with kin (`kin`), of one without (empty), and of a kernel that nobody measured (`*`)."""
    found: dict[str, tuple[Regime, ...]] = {}
    left_out: dict[str, dict[str, float]] = {}
    for has_kin, key, said in ((True, KIN, "an unseen GPU of a measured kin"), (False, "", "an unseen GPU")):
        own = [case for case in cases if case.has_kin == has_kin]
        tail = _tail(own, cases)
        left_out |= {case.name: _score(case, _others(case, own, cases), tail) for case in own}
        found[key] = regimes(f"{part} on {said}", {"": _spread(own or cases)}, tail=tail)[""]
    middle = Spread(time_s=_spread(cases).time_s, apart=np.concatenate([c.middle for c in cases]), held_out=_all(cases))
    found["*"] = regimes(f"{part}, a kernel that nobody measured", {"": middle})[""]
    return Unseen(regimes=found, left_out={case.name: left_out[case.name] for case in cases})


def _tail(own: Sequence[Case], cases: Sequence[Case]) -> float:
    """The largest tail with which left-out cases hold what they should, on average; the smallest where none does."""
    for tail in TAILS:
        if own and np.mean([_inside(c, _others(c, own, cases), tail).mean() for c in own]) >= MEANT:
            return tail
    return TAILS[-1] if own else TAIL


def _others(case: Case, own: Sequence[Case], cases: Sequence[Case]) -> Sequence[Case]:
    """The other cases of its kind; of both kinds where there is no other."""
    return [c for c in own if c is not case] or [c for c in cases if c is not case]


def _inside(case: Case, others: Sequence[Case], tail: float) -> np.ndarray:
    """Which rows of a case are within the intervals that the others give."""
    ends = regimes(case.name, {"": _spread(others)}, tail=tail)[""]
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
    return Spread(**columns, held_out=_all(some))


def _all(cases: Iterable[Case]) -> np.ndarray:
    return np.ones(sum(len(case.apart) for case in cases), dtype=bool)
