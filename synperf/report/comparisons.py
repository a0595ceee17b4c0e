"""A comparison of recipes, as text: one line a recipe, then one a case or GPU."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from ..evaluation.recipes import OURS, ROOFLINE
from ..evaluation.results import FEW, PLAIN, RECORD, Comparison, Mean
from ..evaluation.splits import (
    ALL,
    LEAVING_OUT,
    NEW_KERNELS,
    PAPER,
    PAPER_SEEN,
    SEEN_PART,
    SIBLING,
    SPLITS,
    UNSEEN_GPU,
    UNSEEN_PART,
)
from ..hardware.twins import TWINS
from ..units import format_percent, format_time
from .text import paragraphs, section, table

_MARKS = {"new": " **", NEW_KERNELS: " *", UNSEEN_PART: ""}
_HEADS = ("recipe", "known of the GPU", "mean", "median", "P90", "wMAPE", "bias", "worst case", "fit", "per 1000 rows")


def to_text(found: Comparison) -> str:
    """What was asked, means over the cases, every case, and what follows."""
    return paragraphs(
        _head(found),
        _means(found),
        _cases(found),
        _gpus(found),
        _kernels(found),
        _growth(found),
        _verdicts(found),
        _notes(found),
    )


def _head(found: Comparison) -> str:
    s = found.settings
    first = next(r for r in found.results if r.part == found.part())
    most = (
        f", at most {s.rows_per_group:,} rows of each GPU, engine, kernel and format" if s.rows_per_group < 1e9 else ""
    )
    return (
        f"{s.family}, split {s.split}: {SPLITS[s.split]}\n"
        f"synperf {s.version} on {s.source}{f', {chr(32).join(s.dtypes)}' if s.dtypes else ''}{most}, seed {s.seed}\n"
        f"{first.training_rows:,} rows fitted to, {first.rows:,} scored{_in_first(found)}"
    )


def _in_first(found: Comparison) -> str:
    return f" in the first of {len(found.cases())} cases" if len(found.cases()) > 1 else ""


def _means(found: Comparison) -> str:
    means = found.means()
    several = len(found.cases()) > 1
    shown = [name for name in _HEADS if (name != "worst case" or several) and (name != _HEADS[1] or _varied(means))]
    rows = [dict(zip(_HEADS, _cells(mean), strict=True)) for mean in means]
    body = table(shown, [[row[name] for name in shown] for row in rows], [n for n in shown if n not in _HEADS[:2]])
    alone = f"left out: {found.cases()[0]}" if found.settings.split in LEAVING_OUT else "test rows"
    return f"{f'mean of {len(found.cases())} cases' if several else alone}\n{body}"


def _varied(means: tuple[Mean, ...]) -> bool:
    return any(mean.variant for mean in means)


def _cells(mean: Mean) -> tuple[str, ...]:
    e = mean.errors
    errors = [format_percent(value) for value in (e.mape, e.median, e.p90, e.wmape, e.bias, mean.worst)]
    return (mean.recipe, _known(mean.variant), *errors, format_time(mean.fit_s), format_time(mean.predict_s_per_1000))


def _known(variant: str) -> str:
    return variant if variant != PLAIN else "published"


def _cases(found: Comparison) -> str:
    """Mean errors, cases down and recipes across."""
    if found.settings.split not in LEAVING_OUT or len(found.cases()) < 2:
        return ""
    means = found.means()
    heads = ("mean error, left out", *(_column(mean) for mean in means))
    rows = [
        (case, *(format_percent(fmean(r.errors.mape for r in found.of(m.recipe, m.variant, case=case))) for m in means))
        for case in found.cases()
    ]
    return table(heads, rows, heads[1:])


def _gpus(found: Comparison) -> str:
    """Mean errors, GPUs down and recipes across, and the mean of the GPUs."""
    gpus = sorted({r.gpu for r in found.results if r.part == found.part()} - {ALL})
    means = found.means()
    heads = ("mean error on", *(_column(mean) for mean in means))
    values = {gpu: [_on(found, mean, gpu) for mean in means] for gpu in gpus}
    rows = [(gpu, *map(format_percent, line)) for gpu, line in values.items()]
    if found.settings.split in PAPER:
        for said, chosen in _paper_means(found.settings.split, gpus).items():
            columns = zip(*(values[gpu] for gpu in chosen), strict=True)
            rows.append((said, *(format_percent(fmean(column)) for column in columns)))
    return table(heads, rows, heads[1:])


def _kernels(found: Comparison) -> str:
    """Mean errors on GPUs that are left out, kernels down and recipes across."""
    means, cells = found.means(), found.cells()
    heads = ("mean error on", "kernel", "rows", *(_column(mean) for mean in means))
    rows = [(gpu, kernel, *_cell(found, means, gpu, kernel, part)) for gpu, kernel, part in cells]
    return table(heads, rows, heads[2:]) if rows else ""


def _cell(found: Comparison, means: tuple[Mean, ...], gpu: str, kernel: str, part: str) -> tuple[str, ...]:
    """Rows, and the error of every recipe and variant that scored them."""
    scores = [found.of(mean.recipe, mean.variant, part=part, gpu=gpu, kernel=kernel) for mean in means]
    mark = _MARKS["new" if any(r.is_new for own in scores for r in own) else part]
    errors = (format_percent(fmean(r.errors.mape for r in own)) if own else "-" for own in scores)
    return f"{next(r.rows for own in scores for r in own):,}{mark}", *errors


def _paper_means(split: str, gpus: list[str]) -> dict[str, list[str]]:
    """All GPUs, and where some were fitted to and others not, each kind by itself."""
    seen = [gpu for gpu in gpus if gpu in PAPER_SEEN.get(split, ())]
    parts = {"of those fitted to": seen, "of the others": [gpu for gpu in gpus if gpu not in seen]}
    return {"mean of the GPUs": gpus} | (parts if all(parts.values()) else {})


def _on(found: Comparison, mean: Mean, gpu: str) -> float:
    return fmean(r.errors.mape for r in found.of(mean.recipe, mean.variant, gpu=gpu))


def _column(mean: Mean) -> str:
    return f"{mean.recipe}, {mean.variant}" if mean.variant else mean.recipe


def _growth(found: Comparison) -> str:
    """Errors on seen GPUs beside those on unseen ones."""
    seen = {mean.recipe: mean for mean in found.means(SEEN_PART)}
    unseen = {mean.recipe: mean for mean in found.means() if mean.variant == PLAIN}
    heads = ("recipe", "seen GPUs, new shapes", "unseen GPUs", "growth")
    rows = [
        (
            name,
            format_percent(seen[name].errors.mape),
            format_percent(mean.errors.mape),
            f"{growth:+.0%}".replace("%", " %"),
        )
        for name, mean in unseen.items()
        if name in seen and (growth := found.growth(name)) is not None
    ]
    return table(heads, rows, heads[1:]) if rows else ""


def _verdicts(found: Comparison) -> str:
    """Whether no case is worse than the roofline times one factor, and the worst that few rows did."""
    lines = list(_beside_roofline(found))
    harm = found.worst_harm()
    if harm is not None:
        lines.append(f"few-shot minus zero-shot on the same rows, at its worst: {100 * harm:+.2f} points")
    return "\n".join(lines)


def _beside_roofline(found: Comparison) -> Iterator[str]:
    """Whether what is ours is nowhere worse: in no case, and on no kernel of a GPU that is left out."""
    if found.settings.split not in (UNSEEN_GPU, SIBLING):
        return
    for mean in found.means():
        if mean.recipe not in OURS:
            continue
        worse = [case for case in found.cases() if _is_worse(found, mean, case=case)]
        worse += [
            f"{kernel} on {gpu}" for gpu, kernel, part in found.cells()
            if _is_worse(found, mean, part=part, gpu=gpu, kernel=kernel)
        ]  # fmt: skip
        verdict = f"no: {', '.join(worse)}" if worse else "yes"
        yield f"{_column(mean)}: no case or kernel is worse than the roofline times one factor of the others: {verdict}"


def _is_worse(found: Comparison, mean: Mean, **where: str) -> bool:
    own, bound = found.of(mean.recipe, mean.variant, **where), found.of(ROOFLINE, **where)
    return bool(own and bound) and own[0].errors.mape > bound[0].errors.mape


def _notes(found: Comparison) -> str:
    return section("read with this", _said(found))


def _said(found: Comparison) -> Iterator[str]:
    """What a reader has to know of the figures."""
    yield "errors are absolute and relative; wMAPE weighs a row by its time; bias above 0 is too slow"
    split, variants = found.settings.split, {r.variant for r in found.results}
    if split in PAPER_SEEN:
        yield "no GPU has a calibration record here: shares of the published rates are typical ones, launch floors none"
    if split in LEAVING_OUT:
        yield "a GPU that is left out has launch floors of the nearest other one and median shares of the others' rates"
    if any(r.is_new for r in found.results):
        yield "** no GPU that was fitted to ran this kernel: the middle of all kernels answers, and the answer says so"
    if any(r.part == NEW_KERNELS for r in found.results):
        yield "*, ** no kin of the GPU ran the kernel: scored here, and not in the means above"
    if RECORD in variants:
        yield "the 16 rows of a record are drawn by shape: 6 that math limits, 6 that DRAM limits, 4 of next to no work"
    if any(variant.startswith(FEW) for variant in variants):
        yield "few-shot N is `synperf calibrate` on N rows: the 16 of the record, else random ones of each kernel"
    for (gpu, variant), why in {(r.gpu, r.variant): r.kept for r in found.results if r.kept}.items():
        yield f"{variant} left {gpu} as it was: {why}"
    for case in found.cases() if split in LEAVING_OUT else ():
        left = set(case.split("+"))
        near = {gpu for group in TWINS if left & set(group) for gpu in group} - left
        if trained := sorted(near & _seen(found)):
            yield f"{', '.join(trained)} is fitted to, a twin of {case}"


def _seen(found: Comparison) -> set[str]:
    return {r.gpu for r in found.results if r.part == SEEN_PART}
