"""How good an estimator is: its errors on measured rows, per GPU and per engine, kernel and format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .. import hardware
from ..errors import FieldError
from ..hardware import GPU
from ..measurements import Rows, aiconfigurator
from ..training.recipe import by_kernel
from ..version import VERSION
from .metrics import Errors, coverage, relative_width, share_below
from .predictions import Predictions, predictions
from .regimes import Regime, regimes
from .selection import Selection, usable

ALL = "all"
TEST = "test"
SPLITS = (ALL, TEST)
BEST = "best"  # what `predict` answers where no estimator is forced
Progress = Callable[[str, int, int], None]  # (GPU, GPUs done, GPUs in all)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Errors on some rows; `all` stands for every GPU, or for every engine, kernel and format.

    `split` is `all` rows or the `test` rows of the published split. `roofline` is the plain roofline on the same
    rows. `coverage` is the share of measured times inside the interval, `below_floor` that below the physical bound.
    `width` is the median half-width of the interval over the estimate, `width_over_median` that over the median error.
    """

    gpu: str
    engine: str
    kernel: str
    dtype: str
    split: str
    rows: int
    estimate: Errors
    roofline: Errors
    coverage: float
    below_floor: float
    width: float = 0.0
    width_over_median: float | None = None  # None where the median error is 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Scores in order of GPU, then engine, kernel and format; each GPU's total and, at the end, those of every format
    and the overall one. `regimes` are groups of rows whose coverage is a figure by itself.
    """

    family: str
    origin: str
    source: str
    version: str
    scores: tuple[Score, ...]
    regimes: tuple[Regime, ...] = ()

    def totals(self, split: str = ALL) -> tuple[Score, ...]:
        """One score per GPU, and the overall one."""
        return tuple(s for s in self.scores if s.engine == ALL and s.dtype == ALL and s.split == split)

    def by_dtype(self, split: str = ALL) -> tuple[Score, ...]:
        """One score per format, pooled over GPUs."""
        return tuple(s for s in self.scores if s.engine == ALL and s.dtype != ALL and s.split == split)

    def regimes_of(self, split: str = ALL, *, cells: bool = False) -> tuple[Regime, ...]:
        """The regimes, or the cells, of a split, the one that its interval holds least of first."""
        own = [r for r in self.regimes if r.split == split and r.is_cell == cells]
        return tuple(sorted(own, key=lambda r: r.coverage))

    def of_split(self, split: str) -> Report:
        """The scores and regimes of one split alone.

        Raises:
            FieldError: there are none.
        """
        scores = tuple(s for s in self.scores if s.split == split)
        if not scores:
            raise FieldError(f"rows: none are {split} rows")
        return replace(self, scores=scores, regimes=(*self.regimes_of(split), *self.regimes_of(split, cells=True)))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON takes it."""
        return asdict(self)


def evaluate(
    family: str = "gemm",
    origin: str | None = None,
    gpus: Iterable[str] | None = None,
    *,
    dtypes: Iterable[str] = (),
    variants: Iterable[str] = (),
    biased: bool = False,
    rows: Iterable[Rows] | None = None,
    source: str = "rows of the caller",
    progress: Progress | None = None,
) -> Report:
    """Errors of one estimator, else of the best one, on measured rows of the given GPUs, each once, or of all.

    Without `rows`, one `Rows` per GPU, those of aiconfigurator-core. Biased rows are not scored, or with
    `biased` they alone, which tells the worst cases and nothing of all.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        UnknownNameError: no such format or variant; a GPU has no measured rows of the family.
        FieldError: `origin` names no estimator; no row is left.
    """
    named = tuple(gpus or ())
    chosen = Selection.of(named, dtypes, variants)
    if rows is None:
        keys = chosen.gpus or aiconfigurator.gpus(family)
        rows, source = (aiconfigurator.read(key, family) for key in keys), aiconfigurator.source()
        devices = hardware.of_keys(keys)
    else:
        rows = list(rows)
        devices = hardware.of_keys((key for part in rows for key in part.gpu), named)
    kept = (used for part in rows if len(used := usable(part, chosen, biased=biased)))
    return score(kept, devices, family=family, origin=origin, source=source, progress=progress)


def score(
    rows: Iterable[Rows],
    devices: Mapping[str, GPU],
    *,
    family: str,
    origin: str | None = None,
    source: str,
    progress: Progress | None = None,
) -> Report:
    """Errors on any measured rows: one `Rows` per GPU, of which one at a time is in memory with its labels."""
    scores: list[Score] = []
    found_regimes: list[Regime] = []
    by_dtype: dict[str, list[Predictions]] = {}
    for done, part in enumerate(rows):
        key = str(part.gpu[0])
        total: list[Predictions] = []
        for (_, *label), index in by_kernel(part):
            group = part.take(index)
            launches = [predictions(one, devices[key], origin) for _, one in group.groups(*group.labels())]
            found = Predictions.join(launches)
            scores += _scores(found, key, *label)
            found_regimes += regimes(found, key, *label)
            by_dtype.setdefault(label[-1], []).append(found)
            total.append(found)
        scores += _scores(Predictions.join(total), key)
        if progress is not None:
            progress(key, done + 1, len(devices))
    pooled = {dtype: Predictions.join(by_dtype[dtype]) for dtype in sorted(by_dtype)}
    for dtype, found in pooled.items():
        scores += _scores(found, ALL, dtype=dtype)
        found_regimes += regimes(found, ALL, ALL, ALL, dtype)
    scores += _scores(Predictions.join(list(pooled.values())), ALL)
    return Report(
        family=family, origin=origin or BEST, source=source, version=VERSION,
        scores=tuple(scores), regimes=tuple(found_regimes),
    )  # fmt: skip


def _scores(p: Predictions, gpu: str, engine: str = ALL, kernel: str = ALL, dtype: str = ALL) -> Iterator[Score]:
    """The score of all rows and, where there are any, of the test rows."""
    for split, chosen in zip(SPLITS, (np.ones(len(p), dtype=bool), p.is_test), strict=True):
        if not chosen.any():
            continue
        part = p.take(chosen)
        errors, width = Errors.of(part.time_s, part.measured_s), relative_width(part.low_s, part.high_s, part.time_s)
        yield Score(
            gpu=gpu, engine=engine, kernel=kernel, dtype=dtype, split=split, rows=len(part),
            estimate=errors, roofline=Errors.of(part.roofline_s, part.measured_s),
            coverage=coverage(part.low_s, part.high_s, part.measured_s),
            below_floor=share_below(part.floor_s, part.measured_s),
            width=width, width_over_median=width / errors.median if errors.median else None,
        )  # fmt: skip
