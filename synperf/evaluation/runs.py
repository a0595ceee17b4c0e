"""One recipe in one case: a fit, and the errors of every variant on every part of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..errors import FieldError
from ..measurements import Rows
from ..training.recipe import Devices, Predictor, Recipe
from .corrections import RECORD_ROWS, draws, record_rows, recorded
from .general import correctable, kept
from .metrics import Errors
from .recipes import OURS
from .results import PLAIN, RECORD, ZERO_SHOT, Result, few_shot
from .splits import ALL, FEW_SHOT, NEW_KERNELS, SIBLING, UNSEEN_GPU, UNSEEN_PART, Case

FEW = (20, 50, 100, 200, 500)  # rows of each kernel
FEW_DRAWS = 2
RECORD_SIZE = sum(RECORD_ROWS.values())
FEW_BESIDE = 200  # rows of each kernel that are shown beside the record of a GPU


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """A recipe that was fitted in a case."""

    case: Case
    recipe: str
    predictor: Predictor
    training_rows: int
    kernels: frozenset[str]  # `engine.kernel` of the training rows
    fit_s: float

    @property
    def is_ours(self) -> bool:
        """Whether what is known of a GPU changes what it says."""
        return self.recipe in OURS

    def scored(
        self,
        rows: Rows,
        part: str,
        variant: str = PLAIN,
        devices: Devices | None = None,
        predictor: Predictor | None = None,
        draw: int = 0,
    ) -> Iterator[Result]:
        """Errors on all rows, on those of each GPU, and of GPUs that are left out on those of each kernel.

        Raises:
            FieldError: a time is no positive number.
        """
        used, began = predictor or self.predictor, perf_counter()
        time_s = used(rows, devices or self.case.devices)
        took_s = perf_counter() - began
        if not (np.isfinite(time_s) & (time_s > 0)).all():
            raise FieldError(f"recipe: {self.recipe} gave a time that is no positive number, in {self.case.name}")
        for (gpu, kernel), index in _cells(rows, part):
            yield Result(
                case=self.case.name, recipe=self.recipe, variant=variant, part=part, gpu=gpu, kernel=kernel, draw=draw,
                rows=len(index), training_rows=self.training_rows,
                errors=Errors.of(time_s[index], rows.time_s[index]),
                fit_s=self.fit_s, predict_s_per_1000=took_s / len(rows) * 1000, kept=kept(used).get(gpu, ""),
                is_new=kernel not in self.kernels and kernel != ALL,
            )  # fmt: skip


def _cells(rows: Rows, part: str) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """((GPU, engine and kernel), indices): all, those of each GPU, and where GPUs are left out of each kernel there."""
    yield (ALL, ALL), np.arange(len(rows))
    yield from (((key, ALL), index) for (key,), index in rows.indices("gpu"))
    if part in (UNSEEN_PART, NEW_KERNELS):
        for (gpu, engine, kernel), index in rows.indices("gpu", "engine", "kernel"):
            yield (gpu, f"{engine}.{kernel}"), index


def run(split: str, case: Case, recipe: Recipe, seed: int) -> tuple[Result, ...]:
    """All results of one recipe in one case."""
    rows, began = case.training(), perf_counter()
    predictor = recipe.fit(rows, case.devices, seed)
    fitted = Fitted(
        case=case, recipe=recipe.name, predictor=predictor, training_rows=len(rows), fit_s=perf_counter() - began,
        kernels=frozenset(f"{engine}.{kernel}" for (engine, kernel), _ in rows.indices("engine", "kernel")),
    )  # fmt: skip
    parts = {part: case.rows.take(mask) for part, mask in case.parts.items()}
    found: list[Result] = []
    for part, scored in parts.items():
        if part != UNSEEN_PART:
            found += fitted.scored(scored, part)
        elif split in (UNSEEN_GPU, SIBLING):
            found += _unseen(fitted, scored, seed)
        elif split == FEW_SHOT:
            found += _few_shot(fitted, scored, seed)
    return tuple(found)


def _unseen(fitted: Fitted, rows: Rows, seed: int) -> Iterator[Result]:
    """From published figures; with a record; and corrected by rows. Nothing that was used is scored, by any recipe."""
    devices = fitted.case.devices
    record = _record_rows(rows, devices, seed)
    few = np.concatenate(next(iter(draws(rows, FEW_BESIDE, 1, seed))))
    rest = _without(rows, np.concatenate([record, few]))
    yield from fitted.scored(rest, UNSEEN_PART)
    if fitted.is_ours:
        yield from fitted.scored(rest, UNSEEN_PART, RECORD, recorded(rows.take(record), devices))
    if (own := correctable(fitted.predictor)) is not None:
        for used, variant in ((record, few_shot(RECORD_SIZE)), (few, few_shot(FEW_BESIDE))):
            better = own.corrected(rows.take(used), devices, seed)
            yield from fitted.scored(rest, UNSEEN_PART, variant, predictor=better)


def _record_rows(rows: Rows, devices: Devices, seed: int) -> np.ndarray:
    """Indices of the rows of the records of all GPUs among the rows."""
    return np.concatenate(
        [index[record_rows(rows.take(index), devices[key], seed)] for (key,), index in rows.indices("gpu")]
    )


def _few_shot(fitted: Fitted, rows: Rows, seed: int) -> Iterator[Result]:
    """More and more rows of each draw; the rows that no step used are scored after every step."""
    own = correctable(fitted.predictor)
    for draw, groups in enumerate(draws(rows, max(FEW), FEW_DRAWS, seed)):
        rest = _without(rows, np.concatenate(groups))
        yield from fitted.scored(rest, UNSEEN_PART, ZERO_SHOT, draw=draw)
        if own is None:
            continue
        for count in FEW:
            few = rows.take(np.concatenate([group[:count] for group in groups]))
            better = own.corrected(few, fitted.case.devices, seed + draw)
            yield from fitted.scored(rest, UNSEEN_PART, few_shot(count), predictor=better, draw=draw)


def _without(rows: Rows, used: np.ndarray) -> Rows:
    return rows.take(np.setdiff1d(np.arange(len(rows)), used))
