"""Errors on measured static batches: each left out alone, or with all of its GPU, and what is then predicted of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ... import hardware
from ...errors import FieldError, UnknownNameError
from ...hardware.twins import twins_of
from ...measurements.static_batches import StaticRun, read
from ...serving.fitting.static_fit import Priced, StaticFit, estimated, key_of
from ...serving.static_record import of_gpu
from ..metrics import Errors
from .static_baselines import BASELINES, Others

Floats = npt.NDArray[np.float64]
CONFIGURATION, GPU, TWINS = LEFT_OUT = ("configuration-out", "gpu-out", "twins-out")
PHASES = ("prefill", "decode", "total")
ALL = "all"
LABELS: Mapping[str, Callable[[StaticRun], str]] = {
    ALL: lambda _: ALL,
    "gpu": key_of,
    "model": lambda run: f"{run.model}, tp {run.tp}",
    "workload": lambda run: run.workload,
}
_APART = "only the whole batch was timed; shown apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticScore:
    """Errors of a group of batches, of each phase; of `rows` that have an answer."""

    group: str
    rows: int
    prefill: Errors
    decode: Errors
    total: Errors


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticRow:
    """One batch: what was left out, seconds as measured and as predicted, of prefill, decode step and all."""

    name: str
    gpu: str
    left_out: str
    measured_s: tuple[float, ...]
    predicted_s: tuple[float, ...]
    floor_s: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticReport:
    """Scores by what was left out and by label; those of `others` are of all batches that they answer.

    `below_floor` counts measured times below the floor; `apart` are batches of which the whole alone was timed, with
    the factors of all the others.
    """

    source: str
    scores: Mapping[str, Mapping[str, tuple[StaticScore, ...]]]
    others: tuple[StaticScore, ...]
    rows: tuple[StaticRow, ...]
    apart: tuple[StaticRow, ...]
    below_floor: int
    set_aside: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """Batches, and what fits without them predict: rows of prefill, decode step and all, in seconds."""

    left_out: str
    runs: Sequence[StaticRun]
    measured: Floats
    predicted: Floats
    floors: Floats

    def errors(self) -> dict[str, Floats]:
        """Signed relative errors by phase."""
        return dict(zip(PHASES, (self.predicted / self.measured - 1).T, strict=True))


def evaluate(path: Path, gpus: Iterable[str] = (), split: str | None = None) -> StaticReport:
    """Errors on the static batches of a file, of some GPUs or of all; fits see the others too.

    Raises:
        FileFormatError: it is no such file.
        UnknownNameError: no such GPU or split.
        FieldError: there are no batches of these GPUs.
    """
    if split is not None and split not in LEFT_OUT:
        raise UnknownNameError.among("split of static batches", split, LEFT_OUT)
    keys = {hardware.gpu(name).key for name in gpus}
    runs = read(path)
    wanted = [run for run in runs if not keys or key_of(run) in keys]
    if not wanted:
        raise FieldError(f"gpu: {path.name} has no batch of {', '.join(sorted(keys))}")
    priced = Priced([run for run in runs if run.measured.prefill_s is not None])
    return report(path.name, priced, [run for run in wanted if run.measured.prefill_s is None], keys, split)


def report(
    source: str, priced: Priced, apart: Sequence[StaticRun], keys: set[str] | None = None, split: str | None = None
) -> StaticReport:
    """The scores of batches at all that boards may sustain, and of those that stand apart."""
    parts = [_of_gpus(held_out(priced, one), keys or set()) for one in LEFT_OUT if split is None or one == split]
    shown = parts[0]
    return StaticReport(
        source=source,
        scores={one.left_out: {label: _by(one, label) for label in LABELS} for one in parts},
        others=tuple(_others(priced, shown)),
        rows=tuple(row for one in parts for row in _rows(one)),
        apart=_apart(priced, apart),
        below_floor=int((shown.measured < shown.floors).any(axis=1).sum()),
        set_aside={_APART: len(apart)} if apart else {},
    )


def held_out(priced: Priced, left_out: str) -> HeldOut:
    """What fits predict of what they did not see: each batch, or all of each GPU, or of it and its twins."""
    runs = priced.runs
    label = np.array([_group(run, left_out) for run in runs])
    predicted, floors = np.empty((len(runs), 3)), np.empty((len(runs), 3))
    for one in dict.fromkeys(label.tolist()):
        which = label == one
        steps = np.array([run.steps for run in runs])[which]
        fit = priced.fitted(~which)
        batches = priced.at(fit.limits).take(which)
        predicted[which] = _with_total(*fit.times(batches), steps)
        floors[which] = _with_total(batches.floors[:, 0], batches.floors[:, 1], steps)
    return HeldOut(left_out=left_out, runs=runs, measured=measured(runs), predicted=predicted, floors=floors)


def _group(run: StaticRun, left_out: str) -> str:
    """What is left out with a batch."""
    if left_out == CONFIGURATION:
        return run.name
    return "".join(twins_of(key_of(run))) if left_out == TWINS else key_of(run)


def measured(runs: Iterable[StaticRun]) -> Floats:
    """Rows of prefill, decode step and all, in seconds."""
    times = [run.measured for run in runs]
    return np.array([(one.prefill_s, one.step_s, one.total_s) for one in times], dtype=float)


def _with_total(prefill_s: Floats, step_s: Floats, steps: Floats) -> Floats:
    return np.stack([prefill_s, step_s, prefill_s + steps * step_s], axis=1)


def _of_gpus(one: HeldOut, keys: set[str]) -> HeldOut:
    which = np.array([not keys or key_of(run) in keys for run in one.runs])
    return HeldOut(
        left_out=one.left_out, runs=[run for run, kept in zip(one.runs, which, strict=True) if kept],
        measured=one.measured[which], predicted=one.predicted[which], floors=one.floors[which],
    )  # fmt: skip


def _by(one: HeldOut, label: str) -> tuple[StaticScore, ...]:
    """The scores of every value of a label."""
    names = np.array([LABELS[label](run) for run in one.runs])
    return tuple(
        _score(name, one.predicted[names == name], one.measured[names == name])
        for name in dict.fromkeys(names.tolist())
    )


def _score(group: str, predicted: Floats, truth: Floats) -> StaticScore:
    found = [Errors.of(predicted[:, at], truth[:, at]) for at in range(len(PHASES))]
    return StaticScore(group=group, rows=len(truth), **dict(zip(PHASES, found, strict=True)))


def _others(priced: Priced, shown: HeldOut) -> Iterable[StaticScore]:
    """Scores of what others predict of the same batches: those of their source, and baselines."""
    others = Others.of(priced.runs, measured(priced.runs))
    at = [priced.runs.index(run) for run in shown.runs]
    for name in BASELINES:
        predicted = others.predicted(name, shown.left_out != CONFIGURATION)[at]
        answered = np.isfinite(predicted).all(axis=1)
        if answered.any():
            yield _score(name, predicted[answered], shown.measured[answered])


def _rows(one: HeldOut) -> Iterable[StaticRow]:
    for run, truth, predicted, floor in zip(one.runs, one.measured, one.predicted, one.floors, strict=True):
        yield _row(run, one.left_out, truth, predicted, floor)


def _row(run: StaticRun, left_out: str, truth: Floats, predicted: Floats, floor: Floats) -> StaticRow:
    return StaticRow(
        name=run.name, gpu=key_of(run), left_out=left_out,
        measured_s=tuple(truth.tolist()), predicted_s=tuple(predicted.tolist()), floor_s=tuple(floor.tolist()),
    )  # fmt: skip


def _apart(priced: Priced, runs: Sequence[StaticRun]) -> tuple[StaticRow, ...]:
    """Whole batches, with factors that none of them was seen by."""
    if not runs:
        return ()
    fit = priced.fitted(np.ones(len(priced.runs), dtype=bool))
    return tuple(_whole(run, fit) for run in runs)


def _whole(run: StaticRun, fit: StaticFit) -> StaticRow:
    found = estimated(run, fit.limits)
    factors = of_gpu(fit.factors, *fit.gpus.get(key_of(run), (1.0, 1.0)))
    total_s, floor_s = found.with_factors(factors).total_s, found.prefill_floor_s + found.decode_floor_s
    return _row(run, "", np.array([run.measured.total_s]), np.array([total_s]), np.array([floor_s]))
