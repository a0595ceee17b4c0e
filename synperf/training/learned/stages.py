"""The networks that the weights of a family are made of, and which rows each is trained on.

Every format has a network that knows the measured GPUs, a larger one of the same kind for measured tables to stand on,
and one that knows no GPU. What the last costs on a GPU that it never saw is measured on networks that were trained
without one, twins out together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...estimators.weights import GENERAL, KNOWN
from ...hardware.twins import TWINS
from .data import Table
from .settings import Settings

ROWS_GENERAL = 8000  # of every GPU, engine and kernel, for the network that knows no GPU: more do not help it
ROWS_LEFT_OUT = 1000  # for those that only measure what unseen GPUs cost
ROWS_FOLD = 4000  # for those that only measure what new shapes cost
FEW_SHAPES = 100  # of which one in ten is too much to lose, and says too little
FOLDS = 4
TABLES = "tables"  # the larger network of a format


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One network to train."""

    name: str
    rows: Table
    known: bool
    settings: Settings


def stages(
    family: str, part: str, data: Table, seed: int, *, few_shapes: bool, tables: bool, general: bool = True
) -> Iterator[Stage]:
    """The known network, and with `general`, where there are several GPUs, the general one and those without some.

    With `tables` there is a larger network, which measured tables of the family are interpolated with.
    Where there are `few_shapes`, the known network is fitted to all of them, and others that each miss a part of the
    shapes tell how far errors go on new ones. Where larger calls than measured are to be answered, one that misses the
    largest tells how far they go there.
    """
    fitted = data.take(~data.held_out)
    known = data if few_shapes else fitted
    yield Stage(name=f"{part}.{KNOWN}", rows=known, known=True, settings=Settings.for_rows(len(known), family))
    for fold, others in data.folds(FOLDS) if few_shapes else ():
        rows = data.take(few(data, others, ROWS_FOLD, seed))
        name = without_fold(part, fold)
        yield Stage(name=name, rows=rows, known=True, settings=Settings.that_measure(len(rows), family))
    if tables:
        yield Stage(name=f"{part}.{TABLES}", rows=fitted, known=True, settings=Settings.of_tables(len(fitted), family))
    if data.largest.any() and not few_shapes:
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


def without_fold(part: str, fold: int) -> str:
    return f"{part}.fold{fold}"


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


def few(data: Table, chosen: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Indices of at most `most` of the chosen rows of every GPU, engine and kernel."""
    draw = np.random.default_rng(seed)
    label = np.char.add(np.char.add(data.gpu.astype(str), data.engine.astype(str)), data.kernel.astype(str))
    found = []
    for name in np.unique(label[chosen]):
        rows = np.flatnonzero(chosen & (label == name))
        found.append(rows if len(rows) <= most else draw.choice(rows, most, replace=False))
    return np.concatenate(found)
