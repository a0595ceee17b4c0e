"""What a comparison of recipes found: one result for every recipe, case and GPU, and the settings that made it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from statistics import fmean
from typing import Any
from zlib import crc32

import numpy as np

from ..version import VERSION
from .metrics import Errors
from .selection import Pool, Selection
from .splits import ALL, LEAVING_OUT, NEW_KERNELS, SEEN_PART, TEST, UNSEEN_PART

PLAIN, RECORD, ZERO_SHOT, FEW = "", "record of 16 rows", "zero-shot", "few-shot"


def few_shot(rows: int) -> str:
    """The variant that `rows` rows of each kernel corrected."""
    return f"{FEW} {rows}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that two runs must share for their results to stand in one table; `digest` is that of the rows."""

    family: str
    split: str
    gpus: tuple[str, ...]
    dtypes: tuple[str, ...]
    variants: tuple[str, ...]
    rows_per_group: int
    seed: int
    hold_out: tuple[str, ...]
    source: str
    version: str
    digest: str

    @classmethod
    def of(cls, family: str, split: str, selection: Selection, source: str, pool: Pool) -> Settings:
        """The settings of a run on the rows of a pool."""
        marks = np.packbits([pool.fit, pool.test, pool.whole])
        digest = f"{crc32(pool.rows.time_s.tobytes()):08x}{crc32(marks.tobytes()):08x}"
        return cls(family=family, split=split, source=source, version=VERSION, digest=digest, **asdict(selection))

    def difference(self, other: Settings) -> str:
        """The first field in which two differ, with both values; empty where none does."""
        for f in fields(self):
            own, others = getattr(self, f.name), getattr(other, f.name)
            if own != others:
                return f"{f.name} was {_shown(others)} and is {_shown(own)}"
        return ""


def _shown(value: Any) -> str:
    return (" ".join(map(str, value)) or "not given") if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Errors of one recipe in one case on the rows of one GPU, or of `all`.

    `part` names the scored rows: `test`, or, where GPUs are left out, their rows (`unseen`), those of kernels that no
    kin of theirs ran (`unseen-kernel`) and the test rows of the others (`seen`). `kernel` is the engine and kernel that
    they are of (`vllm.fa3`), or `all`; `is_new` says that no row that was fitted to is of that kernel. `variant` says
    what was known of a GPU that is left out: nothing but published figures (empty), a calibration record, a few rows.
    `draw` counts random choices of these rows. `kept` says why few rows of that GPU corrected nothing, where they did
    not.
    """

    case: str
    recipe: str
    variant: str
    part: str
    gpu: str
    draw: int
    rows: int
    training_rows: int
    errors: Errors
    fit_s: float
    predict_s_per_1000: float
    kept: str = ""
    kernel: str = ALL
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean over the cases, and draws, of one recipe's results; `worst` is the greatest mean error of a case."""

    recipe: str
    variant: str
    part: str
    cases: int
    rows: int
    errors: Errors
    worst: float
    fit_s: float
    predict_s_per_1000: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Results in the order of cases, recipes, variants and GPUs."""

    settings: Settings
    results: tuple[Result, ...]

    def recipes(self) -> tuple[str, ...]:
        """Names of the recipes, in order."""
        return tuple(dict.fromkeys(r.recipe for r in self.results))

    def cases(self) -> tuple[str, ...]:
        """Names of the cases, in order."""
        return tuple(dict.fromkeys(r.case for r in self.results))

    def part(self) -> str:
        """The scored rows that count."""
        return UNSEEN_PART if self.settings.split in LEAVING_OUT else TEST

    def of(
        self, recipe: str, variant: str = PLAIN, *, part: str | None = None, case: str | None = None, gpu: str = ALL,
        kernel: str = ALL,
    ) -> tuple[Result, ...]:  # fmt: skip
        """Results of one recipe and variant: of one case or each, one per draw."""
        wanted = (recipe, variant, part or self.part(), gpu, kernel)
        return tuple(
            r
            for r in self.results
            if (r.recipe, r.variant, r.part, r.gpu, r.kernel) == wanted and case in (None, r.case)
        )

    def cells(self) -> tuple[tuple[str, str, str], ...]:
        """(GPU, engine and kernel, part) of all that is left out and scored by itself, in order."""
        parts = {UNSEEN_PART, NEW_KERNELS}
        return tuple(sorted({(r.gpu, r.kernel, r.part) for r in self.results if r.part in parts and r.kernel != ALL}))

    def means(self, part: str | None = None) -> tuple[Mean, ...]:
        """One line for every recipe and variant that scored the part."""
        wanted = part or self.part()
        keys = dict.fromkeys((r.recipe, r.variant) for r in self.results if r.part == wanted)
        return tuple(_mean(self.of(*key, part=wanted)) for key in keys)

    def growth(self, recipe: str) -> float | None:
        """Error on unseen GPUs over that on seen ones, minus 1; None where either is missing, or the latter is 0."""
        seen, unseen = self.of(recipe, part=SEEN_PART), self.of(recipe, part=UNSEEN_PART)
        if not seen or not unseen or not _mape(seen):
            return None
        return _mape(unseen) / _mape(seen) - 1

    def worst_harm(self) -> float | None:
        """The greatest mean error of a few-shot result minus that of the zero-shot one on the same rows."""
        whole = [r for r in self.results if r.kernel == ALL]
        before = {(r.case, r.recipe, r.gpu, r.draw): r.errors.mape for r in whole if r.variant == ZERO_SHOT}
        found = [
            r.errors.mape - before[key]
            for r in whole
            if r.variant not in (PLAIN, RECORD, ZERO_SHOT) and (key := (r.case, r.recipe, r.gpu, r.draw)) in before
        ]
        return max(found, default=None)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON takes it."""
        return asdict(self)


def mean_errors(errors: Iterable[Errors]) -> Errors:
    """The mean of every figure."""
    rows = [asdict(one) for one in errors]
    return Errors(**{name: fmean(row[name] for row in rows) for name in rows[0]})


def _mean(results: tuple[Result, ...]) -> Mean:
    first = results[0]
    by_case = {case: [r for r in results if r.case == case] for case in dict.fromkeys(r.case for r in results)}
    return Mean(
        recipe=first.recipe,
        variant=first.variant,
        part=first.part,
        cases=len(by_case),
        rows=sum(of_case[0].rows for of_case in by_case.values()),
        errors=mean_errors(mean_errors(r.errors for r in of_case) for of_case in by_case.values()),
        worst=max(_mape(of_case) for of_case in by_case.values()),
        fit_s=sum(of_case[0].fit_s for of_case in by_case.values()),
        predict_s_per_1000=fmean(r.predict_s_per_1000 for r in results),
    )


def _mape(results: Iterable[Result]) -> float:
    return fmean(r.errors.mape for r in results)
