"""Recipes fitted on equal rows and scored on equal rows, split by split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from ..errors import FieldError
from ..kernels import family as family_named
from ..measurements import Rows, aiconfigurator
from ..training.recipe import Recipe
from . import recipes as ours
from . import splits
from .results import Comparison, Settings
from .runs import run
from .selection import Selection, pool
from .state import State

Progress = Callable[[str, int, int], None]  # (case and recipe, done, of all)


def compare(
    family: str = "gemm",
    split: str = splits.NEW_SHAPE,
    recipes: Iterable[str | Recipe] = (),
    *,
    rows: Iterable[Rows] | None = None,
    source: str = "rows of the caller",
    selection: Selection | None = None,
    out: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Fits recipes (by name, or any `Recipe`) on the training rows of a split and scores them on its test rows.

    Without `rows`, those of aiconfigurator-core. After every recipe of every case, what is known so far goes to `out`,
    whole; `resume` takes from there what the same settings have found before.

    Raises:
        UnknownNameError: no such family, split, recipe or GPU.
        FieldError: the split has no rows to fit to or to score; `out` was made by other settings.
        MissingExtraError: the extra [train] or [data] is not installed.
    """
    kind, chosen = family_named(family).name, selection or splits.selection(splits.check(split))
    wanted = _recipes(splits.check(split), recipes, kind)
    if resume and out is None:
        raise FieldError("resume: from where is not said; right would be --out FILE beside it")
    parts, told = (_measured(kind, chosen), aiconfigurator.source()) if rows is None else (rows, source)
    found = pool(parts, chosen, splits.test_of(split))
    settings = Settings.of(kind, split, chosen, told, found)
    state = State(out, settings, resume=resume)
    names = splits.case_names(split, found, chosen)
    total = len(names) * len(wanted)
    for at, case in enumerate(splits.cases(split, found, chosen)):
        for place, recipe in enumerate(wanted):
            if progress is not None:
                progress(f"{case.name}: {recipe.name}", at * len(wanted) + place, total)
            state.keep(case.name, recipe.name, partial(run, split, case, recipe, chosen.seed))
    return state.comparison(names, [recipe.name for recipe in wanted])


def _recipes(split: str, chosen: Iterable[str | Recipe], family: str) -> tuple[Recipe, ...]:
    """Recipes by name or as they are; where GPUs are left out, the roofline is there to be beaten."""
    given = tuple(chosen)
    found = {one.name: one for one in given if isinstance(one, Recipe)}
    texts = [one for one in given if isinstance(one, str)]
    order = [one if isinstance(one, str) else one.name for one in given]
    if texts or not given:
        made = {recipe.name: recipe for recipe in ours.named(split, texts, family)}
        found |= made
        order = order or list(made)
    if split in splits.LEAVING_OUT and ours.ROOFLINE not in found:
        found |= {ours.ROOFLINE: ours.named(split, [ours.ROOFLINE])[0]}
        order.append(ours.ROOFLINE)
    return tuple(found[name] for name in dict.fromkeys(order))


def _measured(family: str, selection: Selection) -> Iterator[Rows]:
    """The rows of aiconfigurator-core, one GPU after the other.

    Raises:
        UnknownNameError: a GPU has none.
    """
    for key in selection.gpus or aiconfigurator.gpus(family):
        yield aiconfigurator.read(key, family)
