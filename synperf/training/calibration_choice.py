"""Which steps a calibration takes: cross-validated over whole weight shapes, each only where it is surely better.

First the rates of the GPU, then for each kernel and format the residual part of least held-out error of those that are
surely better than none. A step must lower the error by more than two standard errors of that difference: rows of one
shape err alike, and the best of several candidates looks better than it is.
Source: Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, section 7.10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.calibration_file import HARDWARE, ZERO_SHOT, Residual
from ..hardware import GPU
from ..kernels import family
from ..measurements import Rows
from ..units import format_percent
from .calibration_residual import CANDIDATES, Candidate, Parts, Standard, View, limits, residual_part, solve
from .calibration_tuning import Part, Seen, adapted, seen
from .shapes import shapes

FOLDS = 5
LEAST_ROWS = 20  # of a kernel and format, for a residual part
LEAST_SHAPES = 4  # weight shapes, so that one can be left out
SURE = 2.0  # standard errors
MOST_ERROR = 1.0  # as much as the measured time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """The GPU to use, and by `kernel.dtype` the method, why, and its fit; times are columns of all rows.

    `time_s` is held out: of each row, by what was fitted to other weight shapes.
    """

    gpu: GPU
    how: str
    method: dict[str, str]
    why: dict[str, str]
    residuals: dict[str, Residual]
    before_s: np.ndarray
    time_s: np.ndarray
    served: tuple[str, ...] = ()  # kernels and formats that a network answers for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fold:
    """One turn: the rows that are left out, and what the network sees of all rows at the rates of the others."""

    out: np.ndarray
    seen: Seen


def choose(rows: Rows, parts: list[Part], gpu: GPU, seed: int) -> Choice:
    """The steps that held-out rows speak for; without parts there are none to take."""
    if not parts:
        none = np.full(len(rows), np.nan)
        how = "kept: no weights, through which other rates would be tried"
        return Choice(gpu=gpu, how=how, method={}, why={}, residuals={}, before_s=none, time_s=none)
    turn, before = folds(rows, seed), seen(parts, gpu, len(rows))
    everything = np.ones(len(rows), dtype=bool)
    held = [_fold(rows, parts, gpu, turn == i) for i in range(turn.max() + 1)]
    errors, after = before.error(rows.time_s), _held_out(held, before)
    known = np.isfinite(before.base_s)
    better, how = is_better(errors[known], np.abs(after / rows.time_s - 1.0)[known])
    if turn.max() == 0:
        better, how = False, f"{_few_shapes(rows)}, of which none can be left out"
    at = adapted(rows, parts, gpu, everything) if better else gpu
    if not better:
        held = [_Fold(out=turn == i, seen=before) for i in range(turn.max() + 1)]
    base = _Base(
        rows=rows, held=held, final=seen(parts, at, len(rows)), before_s=_time(before),
        base_s=_held_out(held, before), start=HARDWARE if better else ZERO_SHOT,
    )  # fmt: skip
    return _choice(parts, at, f"tuned: {how}" if better else f"kept: {how}", base)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Base:
    """What residual parts start from."""

    rows: Rows
    held: list[_Fold]
    final: Seen
    before_s: np.ndarray
    base_s: np.ndarray  # held out
    start: str


def _choice(parts: list[Part], gpu: GPU, how: str, base: _Base) -> Choice:
    """The residual part of every kernel and format."""
    method, why, residuals, time_s = {}, {}, {}, base.base_s.copy()
    for pool in sorted({part.pool for part in parts}):
        own = [part for part in parts if part.pool == pool]
        index = np.sort(np.concatenate([part.index for part in own]))
        found, why[pool], held_out = _best(own[0], index, base)
        method[pool] = found.name if found else base.start
        if found:
            time_s[index] = held_out
            view, residual = _view(own[0], base.final, index, base.rows)
            residuals[pool] = residual_part(found, view, residual, own[0])
    return Choice(
        gpu=gpu, how=how, method=method, why=why, residuals=residuals, before_s=base.before_s, time_s=time_s,
        served=tuple(method),
    )  # fmt: skip


def _best(part: Part, index: np.ndarray, base: _Base) -> tuple[Candidate | None, str, np.ndarray]:
    """The candidate to use or None, why, and its held-out times of the rows."""
    measured = base.rows.time_s[index]
    start = base.base_s[index]
    if len(index) < LEAST_ROWS:
        return None, f"no residual part: needs {LEAST_ROWS} rows, has {len(index)}", start
    if len(base.held) == 1:
        return None, f"no residual part: {_few_shapes(base.rows)}", start
    times = _candidates(part, index, base)
    best, how = best_of(np.abs(start / measured - 1.0), np.abs(times / measured - 1.0))
    return (None, f"no residual part: {how}", start) if best is None else (CANDIDATES[best], how, times[best])


def best_of(before: np.ndarray, errors: np.ndarray) -> tuple[int | None, str]:
    """The candidate of least error of those surely better than before, or None; and why. `errors`: (candidates, rows).

    One that gains much on a few rows may have less error than they, and be no surer than chance.
    """
    judged = [is_better(before, after) for after in errors]
    sure = [i for i, (better, _) in enumerate(judged) if better]
    best = min(sure or range(len(judged)), key=np.minimum(errors, MOST_ERROR).mean(axis=1).__getitem__)
    return best if sure else None, judged[best][1]


def _candidates(part: Part, index: np.ndarray, base: _Base) -> np.ndarray:
    """(candidates, rows) held-out times."""
    times = np.tile(base.base_s[index], (len(CANDIDATES), 1))
    for fold in base.held:
        out = np.flatnonzero(fold.out[index])
        kept = np.flatnonzero(~fold.out[index])
        if not len(out) or not len(kept):
            continue
        view, residual = _view(part, fold.seen, index, base.rows)
        parts = Parts.of(Standard.of(view.take(kept)), view, view)
        inner, outer = parts.take(kept, kept), parts.take(out, kept)
        low, high = limits(residual[kept])
        for i, candidate in enumerate(CANDIDATES):
            alpha = solve(inner.covariance(candidate), residual[kept], candidate.noise)
            added = np.clip(outer.covariance(candidate) @ alpha, low, high)
            times[i, out] = _time(fold.seen)[index][out] * np.exp(added)
    bounded: np.ndarray = np.maximum(times, base.final.floor_s[index])
    return bounded


def _view(part: Part, found: Seen, index: np.ndarray, rows: Rows) -> tuple[View, np.ndarray]:
    """The rows of a kernel and format as a residual part sees them, and what the network lacks on them."""
    view = View.of(part.kind, part.network, rows.engine[index], found.logs[index], found.hidden[index])
    return view, np.log(rows.time_s[index] / found.base_s[index]) - found.correction[index]


def _few_shapes(rows: Rows) -> str:
    return f"rows of fewer than {LEAST_SHAPES} shapes {' x '.join(family(rows.family[0]).shape)}"


def folds(rows: Rows, seed: int) -> np.ndarray:
    """(rows,) the turn in which each is left out; a shape in one. 0 alone where there are few."""
    found, which = shapes(rows)
    if len(found) < LEAST_SHAPES:
        return np.zeros(len(rows), dtype=np.intp)
    turn = np.arange(len(found)) % FOLDS
    np.random.default_rng(seed).shuffle(turn)
    drawn: np.ndarray = turn[which]
    dense: np.ndarray = np.unique(drawn, return_inverse=True)[1].reshape(-1)
    return dense


def _fold(rows: Rows, parts: list[Part], gpu: GPU, out: np.ndarray) -> _Fold:
    at = gpu if out.all() else adapted(rows, parts, gpu, ~out)
    return _Fold(out=out, seen=seen(parts, at, len(rows)))


def _held_out(held: list[_Fold], before: Seen) -> np.ndarray:
    """(rows,) seconds, each by the turn that left the row out."""
    time_s = np.full(len(before.base_s), np.nan)
    for fold in held:
        time_s[fold.out] = _time(fold.seen)[fold.out]
    return time_s


def _time(found: Seen) -> np.ndarray:
    time_s: np.ndarray = np.maximum(found.base_s * np.exp(found.correction), found.floor_s)
    return time_s


def is_better(before: np.ndarray, after: np.ndarray) -> tuple[bool, str]:
    """Whether errors of the same rows fell by more than `SURE` standard errors of the difference, in words.

    An error counts for `MOST_ERROR` at the most, so that a few rows that nothing has right do not decide.
    """
    gain = np.minimum(before, MOST_ERROR) - np.minimum(after, MOST_ERROR)
    doubt = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else np.inf
    change = f"held-out error {format_percent(before.mean())} to {format_percent(after.mean())}"
    better = bool(gain.mean() > SURE * doubt)
    return better, change if better else f"{change}, no surer than chance"
