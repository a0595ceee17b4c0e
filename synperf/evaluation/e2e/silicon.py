"""Errors on the measured serving points of aiconfigurator-core: of stacks that are known, or by what is left out."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from ... import hardware
from ...errors import FieldError
from ...measurements import silicon
from ...serving.fitting.fitted import Fit
from ...serving.fitting.labels import nearest
from ...serving.fitting.served import Bools, Served
from ...serving.fitting.solve import Floats, general
from ...serving.stack_file import shipped
from ..metrics import Errors, coverage, share_within
from . import baselines
from .cases import ANCHORS, FAMILY_OUT, GPU_OUT, KNOWN, Case, anchors, cases

OURS, FACTORS, KERNELS = "synperf", "factors alone", "kernels, nothing fitted"
ROOFLINE, LINEAR, SCALED = "roofline, fitted alike", "log-linear regression", "wave scaling"
ROOM = "room"
LIMITED = f"{ROOM}: the cache does not hold all requests at their mean length, by synperf's own count: they may queue"
CLOSE, NEAR = 0.2, 0.5
_BANDS = ((4, "1 to 4"), (16, "5 to 16"), (64, "17 to 64"), (256, "65 to 256"), (np.inf, "above 256"))
LABELS = ("gpu", "engine", "family", "source", "concurrency")
Told = Callable[[str, int, int], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeScore:
    """Errors of one time, and shares of points within 20 and 50 %."""

    errors: Errors
    close: float
    near: float

    @classmethod
    def of(cls, predicted: Floats, measured: Floats) -> TimeScore:
        """The score of points."""
        return cls(
            errors=Errors.of(predicted, measured),
            close=share_within(CLOSE, predicted, measured),
            near=share_within(NEAR, predicted, measured),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PointScore:
    """Scores of a group of points: times between tokens, to the first, and to the last."""

    group: str
    points: int
    tpot: TimeScore
    ttft: TimeScore
    e2e: TimeScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What another predictor was off on these points; medians and means are shares of 1."""

    what: str
    points: int
    tpot: tuple[float, float]
    ttft: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointReport:
    """Scores of every way to predict, those of ours by case and label, a peer's figures, and what was set aside.

    `covered` are shares of measured TPOT and TTFT of known stacks within the intervals that ship, which mean to hold
    80 %.
    `limited` is the score of points that wait for room in the cache, which no other score has. `below_roofline` of the
    scored points took less between tokens than the bounds of the kernels that are counted come to, under the schedule
    and the lengths that are taken.
    """

    split: str
    scores: tuple[PointScore, ...]
    by: Mapping[str, tuple[PointScore, ...]]
    limited: PointScore | None
    answered: int
    predictable: int
    below_roofline: int
    covered: tuple[float, float] | None
    peers: tuple[Peer, ...]
    set_aside: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What one way says of points of a case; `rows` are theirs among all that are served."""

    way: str
    case: str
    rows: np.ndarray
    ttft_s: Floats
    tpot_s: Floats


def evaluate(
    split: str = KNOWN, gpus: Iterable[str] = (), path: Path | None = None, progress: Told = None
) -> PointReport:  # fmt: skip
    """Errors of what is fitted anew to the points of a split, on those that it holds out.

    Raises:
        UnknownNameError: no such split or GPU.
        MissingExtraError: the extra [data] is not installed.
        FieldError: no point of these GPUs is scored.
    """
    keys = {hardware.gpu(name).key for name in gpus}
    points, aside = silicon.read(path)
    cases(split, Served.of(points.take(np.zeros(len(points), dtype=bool))))
    every = Served.of(points, told=_steps(progress, "iterations", len(points)))
    bounds = Served.of(points, baselines.roofline, _steps(progress, "roofline", len(points)))
    return report(split, every, bounds, aside, keys)


def _peers() -> tuple[Peer, ...]:
    """What aiconfigurator's own estimates are off, as peer.toml has it."""
    told = tomllib.loads(Path(__file__).with_name("peer.toml").read_text(encoding="utf-8"))
    return tuple(msgspec.convert(one, Peer) for one in told["figures"])


def _told(aside: Mapping[str, int]) -> dict[str, int]:
    """Counts by the sentences of the rules."""
    return {f"{rule}: {silicon.reasons()[rule]}": count for rule, count in sorted(aside.items())}


def _steps(progress: Told, what: str, total: int) -> Callable[[int], None]:
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(what, done, total)

    return told


def report(
    split: str, every: Served, bounds: Served, aside: Mapping[str, int], gpus: Iterable[str] = ()
) -> PointReport:  # fmt: skip
    """The scores of points, served with predicted kernels and with their rooflines."""
    free, keys = ~every.simulated.limited, set(gpus)
    served, roofs = every.take(free), bounds.take(free)
    answers = [one for case in cases(split, served) for one in _answers(split, case, served, roofs)]
    if keys:
        answers = [_only(one, np.isin(served.points.gpu[one.rows], sorted(keys))) for one in answers]
    ours = [one for one in answers if one.way == OURS]
    predictable = sum(len(one.rows) for one in ours)
    if not predictable:
        raise FieldError(f"gpu: no measured serving points of {', '.join(sorted(keys))} are scored")
    answered = sum(int(np.isfinite(one.tpot_s).sum()) for one in ours)
    waiting = ~free & every.points.is_test
    return PointReport(
        split=split,
        scores=tuple(_scores(served, answers, lambda one: one.way)),
        by={"case": tuple(_scores(served, ours, lambda one: one.case))} | _by_label(served, ours),
        limited=_limited(split, served, every.take(waiting)),
        answered=answered,
        predictable=predictable,
        below_roofline=_below(roofs, ours),
        covered=_covered(served, ours[0]) if split == KNOWN else None,
        peers=_peers() if split == KNOWN else (),
        set_aside=_told(aside) | {LIMITED: int((~free).sum())},
    )


def _only(one: Answers, which: Bools) -> Answers:
    return Answers(
        way=one.way, case=one.case, rows=one.rows[which], ttft_s=one.ttft_s[which], tpot_s=one.tpot_s[which]
    )  # fmt: skip


def _answers(split: str, case: Case, served: Served, roofs: Served) -> Iterator[Answers]:
    """What every way says of the points that a case scores, and ours with a few of these."""
    fit, test = served.take(case.fit), served.take(case.test)
    made = fit.fitted()
    said = {
        OURS: test.times(made),
        FACTORS: made.tree.times(test.labels, test.simulated.features),
        KERNELS: test.simulated.features[0].times(general().center),
        ROOFLINE: roofs.take(case.test).times(roofs.take(case.fit).fitted()),
        LINEAR: baselines.linear(fit, test),
    }
    if split == GPU_OUT:
        said[SCALED] = baselines.scaled(fit, test)
    rows = np.flatnonzero(case.test)
    for way, (ttft, tpot) in said.items():
        yield Answers(way=way, case=case.name, rows=rows, ttft_s=ttft, tpot_s=tpot)
    for count in ANCHORS if split in (FAMILY_OUT, GPU_OUT) else ():
        yield _anchored(case, served, made, count)


def _anchored(case: Case, served: Served, made: Fit, count: int) -> Answers:
    """Ours with so many points of every recipe, which are not scored."""
    known = anchors(served.labels, case.test, count)
    test = case.test & ~known
    ttft, tpot = served.take(test).times(served.take(case.fit | known).given(made))
    way = f"{OURS}, {count} point{'s' if count > 1 else ''} of each recipe"
    return Answers(way=way, case=case.name, rows=np.flatnonzero(test), ttft_s=ttft, tpot_s=tpot)


def _scores(served: Served, answers: Sequence[Answers], group: Callable[[Answers], str]) -> Iterator[PointScore]:
    for name in dict.fromkeys(map(group, answers)):
        own = [one for one in answers if group(one) == name]
        rows, ttft, tpot = (np.concatenate([getattr(one, c) for one in own]) for c in ("rows", "ttft_s", "tpot_s"))
        if (found := _score(name, served.take(rows), ttft, tpot)) is not None:
            yield found


def _score(name: str, served: Served, ttft: Floats, tpot: Floats) -> PointScore | None:
    """The score of the points that are answered; None where none is."""
    said = np.isfinite(tpot)
    if not said.any():
        return None
    points, e2e = served.points, served.e2e_s(ttft, tpot)
    return PointScore(
        group=name,
        points=int(said.sum()),
        tpot=TimeScore.of(tpot[said], points.tpot_s[said]),
        ttft=TimeScore.of(ttft[said], points.ttft_s[said]),
        e2e=TimeScore.of(e2e[said], points.e2e_s[said]),
    )


def _by_label(served: Served, ours: Sequence[Answers]) -> dict[str, tuple[PointScore, ...]]:
    rows, ttft, tpot = (np.concatenate([getattr(one, c) for one in ours]) for c in ("rows", "ttft_s", "tpot_s"))
    scored = served.take(rows)
    found: dict[str, tuple[PointScore, ...]] = {}
    for label in LABELS:
        values, names = _values(scored, label)
        scores = [
            _score(name, scored.take(values == name), ttft[values == name], tpot[values == name]) for name in names
        ]
        found[label] = tuple(one for one in scores if one is not None)
    return found


def _values(served: Served, label: str) -> tuple[np.ndarray, list[str]]:
    """The label of every point, and those that occur, in order."""
    if label != "concurrency":
        values = getattr(served.points, label)
        return values, sorted(set(values.tolist()))
    names = [name for _, name in _BANDS]
    places = np.searchsorted([most for most, _ in _BANDS], served.points.concurrency)
    return np.array(names, dtype=object)[places], [name for at, name in enumerate(names) if np.any(places == at)]


def _covered(served: Served, ours: Answers) -> tuple[float, float]:
    """Shares of measured times within the shipped intervals of the nearest that was fitted to."""
    test, fit = served.take(ours.rows), served.take(~served.points.is_test)
    spreads = [shipped().spreads[level] for level in nearest(test.labels, fit.labels)]
    shares = []
    for name, predicted, measured in (
        ("tpot", ours.tpot_s, test.points.tpot_s), ("ttft", ours.ttft_s, test.points.ttft_s),
    ):  # fmt: skip
        bounds = np.array([(getattr(one, name).low, getattr(one, name).high) for one in spreads])
        shares.append(coverage(bounds[:, 0] * predicted, bounds[:, 1] * predicted, measured))
    return shares[0], shares[1]


def _limited(split: str, served: Served, waiting: Served) -> PointScore | None:
    """Of the points that wait for room, by what is fitted to others."""
    if split != KNOWN or not len(waiting):
        return None
    made = served.take(~served.points.is_test).fitted()
    return _score(ROOM, waiting, *waiting.times(made))


def _below(roofs: Served, ours: Sequence[Answers]) -> int:
    """Scored points below the physical bounds of their kernels, added up."""
    rows = np.concatenate([one.rows for one in ours])
    one = roofs.take(rows)
    bare = np.zeros(one.simulated.features[0].ttft.shape[1])
    bare[:4] = 1.0
    least = np.min([features.times(bare)[1] for features in one.simulated.features], axis=0)
    return int((one.points.tpot_s < least).sum())
