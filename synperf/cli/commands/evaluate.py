"""Evaluate an estimator on measured rows, or fit recipes on a part of them and compare. Needs the extra [data].

Without --recipe, what `synperf predict` answers is scored: errors per GPU beside those of the plain roofline, on all
rows and on the new shapes of the published split; --split new-shape shows the latter alone. With --recipe, or any
other --split, recipes are fitted on the training rows of the split and scored on its test rows, all on equal rows.
`evaluate collective` scores collectives: --split new-size or ranks-out, PipeWeave's and Vidur's tables from --data.
`evaluate e2e` fits stacks to measured serving points and scores those that a --split holds out: known-stack,
family-out, gpu-out, concurrency-out, length-out; --rows names another silicon_sample.csv than that of the package.
--rows pipeweave_e2e_real.parquet scores static batches (--split configuration-out, gpu-out, twins-out), --rows
neusight_e2e_labels.parquet passes of PyTorch in fp32.
What is found goes to --out after every fit: Ctrl-C loses at most one, and --resume goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import evaluation
from ...errors import FieldError
from ...evaluation import Selection, collectives, paper_tables, recipes, splits
from ...evaluation.e2e import cases, eager, silicon, static
from ...evaluation.evaluate import TEST
from ...evaluation.selection import SEED
from ...kernels import family as family_named
from ...kernels import name_of
from ...kernels.fields import dtype_of
from ...light_classes import dataclass
from ...measurements import Rows, model_rows
from ...report import comparison_plot, comparisons, eager_scores, messages, point_scores, scores, static_scores
from ...tables.outfile import replacing, require_other, require_place, write_text
from ...training.recipe import Recipe
from ..arguments import FAMILY, AsJson, OnlyGpu, one_gpu
from ..bars import stages
from ..rows import read_rows
from ..show import notice, show

Names = list[str] | None
COLLECTIVE, MODELS = "collective", "e2e"


def evaluate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help=FAMILY)] = "gemm",
    origin: Annotated[str | None, typer.Option(metavar="NAME", help="the estimator; else the best one")] = None,
    split: Annotated[str | None, typer.Option(metavar="NAME", help=", ".join(splits.SPLITS))] = None,
    recipe: Annotated[Names, typer.Option(metavar="NAME", help="what to fit: a name, or all; may be repeated")] = None,
    gpu: OnlyGpu = None,
    dtype: Annotated[Names, typer.Option(metavar="NAME", help="only this format; may be repeated")] = None,
    variant: Annotated[
        Names, typer.Option(metavar="NAME", help="only these calls, such as prefill; may be repeated")
    ] = None,
    hold_out: Annotated[Names, typer.Option(metavar="NAME", help="leave this GPU out; all named go together")] = None,
    rows: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="these rows; may be repeated")] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", envvar="SYNPERF_DATA", help="folder of the paper's tables")
    ] = None,
    biased: Annotated[
        bool, typer.Option("--biased", help="only rows that were chosen by an error or for being fast or slow")
    ] = False,
    rows_per_group: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="at most so many of a GPU, engine, kernel and format: 8000")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="NUMBER", help="of the choice of rows and of the fits: 42")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="the results so far, as JSON")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on from what --out holds")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="errors by GPU, as SVG")] = None,
    as_json: AsJson = False,
) -> None:
    if family == COLLECTIVE:
        given = {
            "origin": origin, "recipe": recipe, "dtype": dtype, "variant": variant, "hold_out": hold_out, "rows": rows,
            "biased": biased, "rows_per_group": rows_per_group, "seed": seed, "out": out, "resume": resume,
            "plot": plot,
        }  # fmt: skip
        _refuse(given, "is for kernels; right would be --split, --gpu and --data alone")
        scored = collectives.evaluate(split or collectives.NEW_SIZE, gpu or (), data)
        show(as_json, lambda: scored, lambda: messages.to_text(scored))
        return
    if family == MODELS:
        given = {
            "origin": origin, "recipe": recipe, "dtype": dtype, "variant": variant, "hold_out": hold_out, "data": data,
            "biased": biased, "rows_per_group": rows_per_group, "seed": seed, "out": out, "resume": resume,
            "plot": plot,
        }  # fmt: skip
        _refuse(given, "is for kernels; right would be --split, --gpu and --rows alone")
        _show_models(rows or [], gpu or (), split, as_json)
        return
    for option, names in (("gpu", gpu), ("hold_out", hold_out)):
        for name in names or ():
            one_gpu(option, name)
    asked = Asked(
        family=family_named(name_of(family)).name, split=None if split is None else splits.check(split),
        recipes=tuple(recipe or ()), gpus=tuple(gpu or ()),
        dtypes=tuple(str(dtype_of("dtype", one)) for one in dtype or ()),
        variants=tuple(variant or ()), biased=biased, files=_files(split, rows, data),
    )  # fmt: skip
    if plot is not None and plot.suffix != ".svg":
        raise FieldError(f"plot: {plot.name} should end in .svg")
    if asked.is_of_shipped:
        given = {"hold_out": hold_out, "rows_per_group": rows_per_group, "seed": seed, "out": out, "resume": resume}
        _refuse(given, "is for recipes that are fitted; right would be --recipe or another --split beside it")
        _check_places({"plot": plot}, asked.files)
        report = _report(asked, origin)
        _draw(plot, lambda: comparison_plot.of_report(report))
        show(as_json, report.to_dict, lambda: scores.to_text(report))
        return
    _refuse(
        {"origin": origin, "biased": biased},
        "is of what `synperf predict` answers; leave it out where recipes are fitted",
    )
    chosen = splits.selection(
        asked.split or splits.NEW_SHAPE, asked.gpus, asked.dtypes, asked.variants,
        rows_per_group=rows_per_group, seed=SEED if seed is None else seed, hold_out=hold_out or (),
    )  # fmt: skip
    _check_places({"out": out, "plot": plot}, asked.files)
    found = _comparison(asked, chosen, out, resume)
    _draw(plot, lambda: comparison_plot.of_comparison(found))
    show(as_json, found.to_dict, lambda: comparisons.to_text(found))


def _show_models(rows: list[Path], gpus: Iterable[str], split: str | None, as_json: bool) -> None:
    """Errors on measured serving points, batches or passes of models, whichever the file holds."""
    if len(rows) > 1:
        raise FieldError(f"rows: {MODELS} is read from one file, got {len(rows)}; right would be one --rows FILE")
    kind = model_rows.kind_of(rows[0]) if rows else model_rows.POINTS
    if kind == model_rows.BATCHES:
        batches = static.evaluate(rows[0], gpus, split)
        show(as_json, lambda: batches, lambda: static_scores.to_text(batches))
    elif kind == model_rows.PASSES:
        _refuse({"split": split}, "is for what is fitted; passes of PyTorch are predicted alone")
        passes = eager.evaluate(rows[0], gpus)
        show(as_json, lambda: passes, lambda: eager_scores.to_text(passes))
    else:
        with stages() as told:
            points = silicon.evaluate(split or cases.KNOWN, gpus, rows[0] if rows else None, told)
        show(as_json, lambda: points, lambda: point_scores.to_text(points))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be evaluated, and on what."""

    family: str
    split: str | None
    recipes: tuple[str, ...]
    gpus: tuple[str, ...]
    dtypes: tuple[str, ...]
    variants: tuple[str, ...]
    biased: bool
    files: tuple[Path, ...]

    @property
    def is_of_shipped(self) -> bool:
        """Whether nothing is to be fitted."""
        return not self.recipes and self.split in (None, splits.NEW_SHAPE)

    def rows(self) -> list[Rows] | None:
        """The rows of the files, by GPU; None where none are named."""
        return [part for _, part in read_rows(self.files, self.family, self.gpus).groups("gpu")] if self.files else None

    def source(self) -> str:
        """Whose rows they are."""
        return ", ".join(path.name for path in self.files)


def _report(asked: Asked, origin: str | None) -> evaluation.Report:
    """Errors of what is shipped."""
    with stages() as told:
        report = evaluation.evaluate(
            asked.family, origin, asked.gpus or None,
            dtypes=asked.dtypes, variants=asked.variants, biased=asked.biased,
            rows=asked.rows(), source=asked.source(), progress=told,
        )  # fmt: skip
    return report if asked.split is None else report.of_split(TEST)


def _comparison(asked: Asked, chosen: Selection, out: Path | None, resume: bool) -> evaluation.Comparison:
    """Errors of what is fitted."""
    split = asked.split or splits.NEW_SHAPE
    wanted: list[Recipe] = list(recipes.named(split, asked.recipes, asked.family))
    if split == splits.PAPER_FP8 and (artifact := paper_tables.artifact(asked.files)) is not None:
        wanted.append(artifact)
    with stages() as told:
        return evaluation.compare(
            asked.family, split, wanted,
            rows=asked.rows(), source=asked.source(), selection=chosen, out=out, resume=resume, progress=told,
        )  # fmt: skip


def _files(split: str | None, rows: list[Path] | None, data: Path | None) -> tuple[Path, ...]:
    """The files to read: those named, or the paper's tables in the folder.

    Raises:
        FieldError: the paper's tables are asked for, and nothing says where they are.
    """
    if rows or split is None or split not in splits.PAPER:
        return tuple(rows or ())
    if data is None:
        read = " and ".join(paper_tables.FILES[split])
        raise FieldError(f"data: {split} reads {read}; right would be --data DIR, the folder that has them")
    return paper_tables.files(split, data)


def _check_places(outputs: Mapping[str, Path | None], read: Iterable[Path]) -> None:
    """Checks, before anything is fitted, that every output can be written, and is none of the files that are read.

    Raises:
        FieldError: one cannot, or is.
    """
    for option, path in outputs.items():
        if path is None:
            continue
        for file in read:
            require_other(option, path, {"rows": file})
        require_place(option, path)


def _refuse(options: Mapping[str, Any], why: str) -> None:
    """Checks that none of these options is given.

    Raises:
        FieldError: one is.
    """
    for name, value in options.items():
        if value is not None and value is not False and value != []:
            raise FieldError(f"{name}: {why}")


def _draw(path: Path | None, drawing: Callable[[], str]) -> None:
    if path is None:
        return
    with replacing("plot", path) as part:
        write_text(part, drawing())
    notice(f"{path}: errors by GPU")
