"""The networks that the weights of a family are made of, and which rows each is trained on.

Every format has a network that knows the measured GPUs, a larger one of the same kind for measured tables to stand on,
and one that knows no GPU. What the last costs on a GPU that it never saw is measured on networks that were trained
without one, twins out together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...estimators.weights import GENERAL, KNOWN
from ...hardware.twins import TWINS
from .data import Table
from .settings import Settings

ROWS_GENERAL = 8000  # of every GPU, engine and kernel, for the network that knows no GPU: more do not help it
ROWS_FOLD = 8000  # for those that only measure what one of few shapes costs that is new: their error is not of rows
ROWS_HALVED = 250_000  # at most, of one that another has half of: it takes minutes, and all formats share what it tells
ROWS_LEFT_OUT = 1000  # for those that only measure what unseen GPUs cost
FEW_SHAPES = 100  # of which one in ten is too much to lose
SOME_SHAPES = 200  # of which one in ten says too little of how errors are spread
FOLDS_OF_FEW, FOLDS_OF_SOME = 8, 4
TABLES = "tables"  # the larger network of a format


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One network to train."""

    name: str
    rows: Table
    known: bool
    settings: Settings


def stages(
    family: str, part: str, data: Table, seed: int, *, num_shapes: int, tables: bool, general: bool = True
) -> Iterator[Stage]:
    """The known network, and with `general`, where there are several GPUs, the general one and those without some.

    With `tables` there is a larger network, which measured tables of the family are interpolated with.
    Where there are few shapes, the known network is fitted to all of them. Where those that are held out would say too
    little of new ones, others like it that each miss a part of the shapes tell how far errors go there, and one with
    half of the rows what fewer rows cost. Where larger calls than measured are to be answered, one that misses the
    largest tells how far they go there.
    """
    fitted = data.take(~data.held_out)
    few_shapes, has_largest = has_few_shapes(num_shapes), bool(data.largest.any())
    known = fitted_to(data, num_shapes)
    yield Stage(name=f"{part}.{KNOWN}", rows=known, known=True, settings=Settings.for_rows(len(known), family))
    if few_shapes or (num_shapes < SOME_SHAPES and not has_largest):
        yield from _of_folds(family, part, data, seed, num_shapes)
    if tables:
        yield Stage(name=f"{part}.{TABLES}", rows=fitted, known=True, settings=Settings.of_tables(len(fitted), family))
    if has_largest and not few_shapes:
        rows = data.take(~(data.held_out | data.largest))
        settings = Settings.that_measure(len(rows), family)
        yield Stage(name=without_largest(part), rows=rows, known=True, settings=settings)
    if len(set(data.gpu)) < 2 or not general:
        return  # one GPU says nothing about others
    some = fitted.take(few(fitted, np.ones(len(fitted), dtype=bool), ROWS_GENERAL, seed))
    yield Stage(name=f"{part}.{GENERAL}", rows=some, known=False, settings=Settings.for_rows(len(some), family))
    for gpus in left_out(set(data.gpu)):
        others = ~np.isin(data.gpu.astype(str), gpus)
        rows = data.take(few(data, others, ROWS_LEFT_OUT, seed))
        yield Stage(name=without(part, gpus), rows=rows, known=False, settings=Settings.that_measure(len(rows), family))


def _of_folds(family: str, part: str, data: Table, seed: int, num_shapes: int) -> Iterator[Stage]:
    """Networks that each miss a part of the shapes, and one that has half of the rows of the first of these."""
    for fold, others in data.folds(num_folds(num_shapes)):
        rows = data.take(few(data, others, ROWS_FOLD, seed) if has_few_shapes(num_shapes) else others)
        is_halved = fold == 0 and len(rows) <= ROWS_HALVED
        named = {without_fold(part, fold): rows} | ({half_of_fold(part): _half(rows, seed)} if is_halved else {})
        for name, own in named.items():
            yield Stage(name=name, rows=own, known=True, settings=Settings.for_rows(len(own), family))


def fitted_to(data: Table, num_shapes: int) -> Table:
    """The rows of the network that answers."""
    return data if has_few_shapes(num_shapes) else data.take(~data.held_out)


def rows_of_fold(data: Table, others: np.ndarray, num_shapes: int) -> int:
    """How many rows a network has that has seen the `others` alone."""
    if not has_few_shapes(num_shapes):
        return int(others.sum())
    labels = Counter(zip(data.gpu[others], data.engine[others], data.kernel[others], strict=True))
    return sum(min(rows, ROWS_FOLD) for rows in labels.values())


def has_few_shapes(num_shapes: int) -> bool:
    """Whether the network that answers is fitted to all shapes, since each of them matters."""
    return num_shapes < FEW_SHAPES


def num_folds(num_shapes: int) -> int:
    """In how many parts shapes are left out; of few, a part is as small as it can be."""
    return FOLDS_OF_FEW if has_few_shapes(num_shapes) else FOLDS_OF_SOME


def without_fold(part: str, fold: int) -> str:
    return f"{part}.fold{fold}"


def half_of_fold(part: str) -> str:
    return f"{part}.half_of_fold0"


def without_largest(part: str) -> str:
    return f"{part}.without_largest"


def without(part: str, gpus: tuple[str, ...]) -> str:
    return f"{part}.without_{'_'.join(gpus)}"


def left_out(gpus: set[str]) -> list[tuple[str, ...]]:
    """Which GPUs are left out together: twins, and every other one alone; never all of them."""
    twins = [tuple(sorted(gpus & set(pair))) for pair in TWINS]
    alone = [(gpu,) for gpu in sorted(gpus - {gpu for pair in TWINS for gpu in pair})]
    found = [pair for pair in (*twins, *alone) if pair]
    return found if len(found) > 1 else [(gpu,) for gpu in sorted(gpus)]


def _half(rows: Table, seed: int) -> Table:
    """A random half of some rows."""
    return rows.take(np.sort(np.random.default_rng(seed).permutation(len(rows))[: (len(rows) + 1) // 2]))


def few(data: Table, chosen: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Indices of at most `most` of the chosen rows of every GPU, engine and kernel."""
    draw = np.random.default_rng(seed)
    label = np.char.add(np.char.add(data.gpu.astype(str), data.engine.astype(str)), data.kernel.astype(str))
    found = []
    for name in np.unique(label[chosen]):
        rows = np.flatnonzero(chosen & (label == name))
        found.append(rows if len(rows) <= most else draw.choice(rows, most, replace=False))
    return np.concatenate(found)
