"""How good an estimator is: its errors on measured rows, per GPU and per engine, kernel and format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .. import hardware
from ..hardware import GPU
from ..measurements import Rows, aiconfigurator
from ..version import VERSION
from .metrics import Errors, coverage, share_below
from .predictions import Predictions, predictions

ALL = "all"
SPLITS = ("all", "test")
Progress = Callable[[str, int, int], None]  # (GPU, GPUs done, GPUs in all)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Errors on some rows; `all` stands for every GPU, or for every engine, kernel and format.

    `split` is `all` rows or the `test` rows of the published split. `roofline` is the plain roofline on the same
    rows. `coverage` is the share of measured times inside the interval, `below_floor` that below the physical bound.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Scores in order of GPU, then engine, kernel and format; each GPU's total and, at the end, the overall one."""

    family: str
    origin: str
    source: str
    version: str
    scores: tuple[Score, ...]

    def totals(self, split: str = "all") -> tuple[Score, ...]:
        """One score per GPU, and the overall one."""
        return tuple(s for s in self.scores if s.engine == ALL and s.split == split)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON takes it."""
        return asdict(self)


def evaluate(
    family: str = "gemm",
    origin: str = "analytical",
    gpus: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> Report:
    """Errors of one estimator on the measured rows of the given GPUs, each once, or of all that have any.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        UnknownNameError: a GPU has no measured rows of the family.
        FieldError: `origin` names no estimator.
    """
    found = map(hardware.gpu, gpus if gpus is not None else aiconfigurator.gpus(family))
    devices = {gpu.key: gpu for gpu in found}
    read = (aiconfigurator.read(key, family) for key in devices)
    return score(read, devices, family=family, origin=origin, source=aiconfigurator.source(), progress=progress)


def score(
    rows: Iterable[Rows],
    devices: Mapping[str, GPU],
    *,
    family: str,
    origin: str,
    source: str,
    progress: Progress | None = None,
) -> Report:
    """Errors on any measured rows: one `Rows` per GPU, of which one at a time is in memory with its labels."""
    scores: list[Score] = []
    everything: list[Predictions] = []
    for done, part in enumerate(rows):
        key = str(part.gpu[0])
        total: list[Predictions] = []
        for label, group in part.groups("engine", "kernel", "dtype"):
            found = predictions(group, devices[key], origin)
            scores += _scores(found, key, *label)
            total.append(found)
        joined = Predictions.join(total)
        scores += _scores(joined, key)
        everything.append(joined)
        if progress is not None:
            progress(key, done + 1, len(devices))
    scores += _scores(Predictions.join(everything), ALL)
    return Report(family=family, origin=origin, source=source, version=VERSION, scores=tuple(scores))


def _scores(p: Predictions, gpu: str, engine: str = ALL, kernel: str = ALL, dtype: str = ALL) -> Iterator[Score]:
    """The score of all rows and, where there are any, of the test rows."""
    for split, chosen in zip(SPLITS, (np.ones(len(p), dtype=bool), p.is_test), strict=True):
        if not chosen.any():
            continue
        part = p.take(chosen)
        yield Score(
            gpu=gpu, engine=engine, kernel=kernel, dtype=dtype, split=split, rows=len(part),
            estimate=Errors.of(part.time_s, part.measured_s), roofline=Errors.of(part.roofline_s, part.measured_s),
            coverage=coverage(part.low_s, part.high_s, part.measured_s),
            below_floor=share_below(part.floor_s, part.measured_s),
        )  # fmt: skip
