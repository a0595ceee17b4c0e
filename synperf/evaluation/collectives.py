"""Errors of the estimates of collectives on measured messages: of new sizes, or of numbers of ranks left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .. import hardware
from ..collectives import records, tuning
from ..collectives.curves import Curve, fastest
from ..collectives.measured import Messages, floors, place_of
from ..errors import FieldError, MissingExtraError, UnknownNameError
from ..measurements import Rows
from .metrics import Errors, coverage, relative_width, share_below

NEW_SIZE, RANKS_OUT = "new-size", "ranks-out"
SPLITS = (NEW_SIZE, RANKS_OUT)
ALL = "all"
LABELS = ("kernel", "gpu", "operation")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Measured messages of one curve, and what is estimated of them."""

    labels: Mapping[str, str]  # kernel, gpu, operation
    measured_s: np.ndarray
    time_s: np.ndarray
    low_s: np.ndarray
    high_s: np.ndarray
    floor_s: np.ndarray
    analytical_s: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageScore:
    """Errors of a group of messages, and those of NCCL's own model beside them."""

    group: str
    rows: int
    estimate: Errors
    coverage: float
    width: float
    below_floor: float
    analytical: Errors


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReport:
    """Scores by kernel, GPU and operation; `below_floor` counts all measured messages, `set_aside` those not used."""

    split: str
    scores: Mapping[str, tuple[MessageScore, ...]]
    below_floor: int
    rows: int
    set_aside: Mapping[str, int]


def evaluate(split: str = NEW_SIZE, gpus: Iterable[str] = (), data: Path | None = None) -> MessageReport:
    """Errors of the shipped curves on test rows, or of curves fitted without each number of ranks, on its rows.

    Raises:
        UnknownNameError: no such split or GPU.
        MissingExtraError: the extra [data] is not installed; or [train], for ranks left out.
        FieldError: no measured message of these GPUs; the folder lacks a file.
    """
    if split not in SPLITS:
        raise UnknownNameError.among("split of collectives", split, SPLITS)
    keys = {hardware.gpu(name).key for name in gpus}
    reader = _needing("synperf.measurements.collectives", "data")
    rows, set_aside = reader.read(data)
    parts = [part for part in reader.systems(rows) if not keys or part.gpu[0] in keys]
    if not parts:
        raise FieldError(f"gpu: no measured collectives of {', '.join(sorted(keys))}")
    return report(split, parts, set_aside)


def report(split: str, parts: Sequence[Rows], set_aside: Mapping[str, int]) -> MessageReport:
    """The scores of measured messages, given by curve."""
    answers = [found for part in parts for found in (_new_sizes if split == NEW_SIZE else _ranks_out)(part)]
    bounds = [(floors(part), part.time_s) for part in parts]
    return MessageReport(
        split=split,
        scores={label: _scores(answers, label) for label in (ALL, *LABELS)},
        below_floor=sum(int((measured < floor).sum()) for floor, measured in bounds),
        rows=sum(len(part) for part in parts),
        set_aside=dict(set_aside),
    )


def _scores(answers: Sequence[Answers], label: str) -> tuple[MessageScore, ...]:
    """The scores of every value of a label."""
    names = [one.labels.get(label, ALL) for one in answers]
    groups = {
        name: [one for one, own in zip(answers, names, strict=True) if own == name] for name in sorted(set(names))
    }
    return tuple(_score(name, group) for name, group in groups.items())


def _score(name: str, parts: Sequence[Answers]) -> MessageScore:
    columns = ("measured_s", "time_s", "low_s", "high_s", "floor_s", "analytical_s")
    measured, time_s, low, high, floor, other = (np.concatenate([getattr(p, c) for p in parts]) for c in columns)
    return MessageScore(
        group=name,
        rows=len(measured),
        estimate=Errors.of(time_s, measured),
        coverage=coverage(low, high, measured),
        width=relative_width(low, high, time_s),
        below_floor=share_below(floor, measured),
        analytical=Errors.of(other, measured),
    )


def _new_sizes(rows: Rows) -> list[Answers]:
    """Test rows, by the shipped curve."""
    test, curve = rows.take(rows.is_test), curve_of(rows)
    return [] if curve is None or not len(test) else [_answers(test, curve, other_ranks=False)]


def _ranks_out(rows: Rows) -> list[Answers]:
    """The rows of each number of ranks, by a curve fitted without them; its interval is that of other ranks."""
    shipped, fits = curve_of(rows), _needing("synperf.training.collective_fits", "train")
    shapes = list(Messages.of(rows).shapes())
    if shipped is None or len(shapes) < 2:
        return []
    ranks, nodes, _ = shapes[0]
    where = place_of(rows, ranks, nodes)
    found = []
    for _, _, which in shapes:
        made = fits.curve(rows.take(~which), where.link, where.bytes_per_s)
        found.append(_answers(rows.take(which), replace(made, other_ranks=shipped.other_ranks), other_ranks=True))
    return found


def curve_of(rows: Rows) -> Curve | None:
    """The shipped curve of rows of one library, version, operation, format and link."""
    names = ("engine", "kernel", "version", "operation", "dtype", "link", "network")
    own = (rows.engine, rows.kernel, rows.version, rows.family, *(rows.fields[name] for name in names[4:]))
    wanted = tuple(str(column[0]) for column in own)
    return next((c for c in records.curves(str(rows.gpu[0])) if tuple(getattr(c, n) for n in names) == wanted), None)


def _answers(rows: Rows, curve: Curve, *, other_ranks: bool) -> Answers:
    interval = curve.other_ranks if other_ranks else curve.known
    floor_s = floors(rows)
    time_s = np.maximum(Messages.of(rows, curve.copies).estimated(curve), floor_s)
    return Answers(
        labels={"kernel": f"{curve.kernel} of {curve.engine}", "gpu": str(rows.gpu[0]), "operation": curve.operation},
        measured_s=rows.time_s,
        time_s=time_s,
        low_s=np.maximum(time_s * interval.low, floor_s),
        high_s=time_s * interval.high,
        floor_s=floor_s,
        analytical_s=modelled(rows),
    )


def modelled(rows: Rows) -> np.ndarray:
    """Times by NCCL's own model."""
    messages, operation = Messages.of(rows), str(rows.family[0])
    found = np.empty(len(messages))
    for ranks, nodes, which in messages.shapes():
        terms = tuning.terms(operation, place_of(rows, ranks, nodes))
        found[which], _, _ = fastest(terms, operation, messages.volume[which], ranks, nodes)
    return found


def _needing(module: str, extra: str) -> Any:
    """A module that needs an extra, imported on first use."""
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("evaluating collectives", extra) from missing
