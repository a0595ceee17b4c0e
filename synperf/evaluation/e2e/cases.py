"""Which serving points are fitted to and which are scored, by split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import UnknownNameError
from ...serving.fitting.labels import RECIPE, Labels
from ...serving.fitting.served import Bools, Served

KNOWN, FAMILY_OUT, GPU_OUT = "known-stack", "family-out", "gpu-out"
CONCURRENCY_OUT, LENGTH_OUT = "concurrency-out", "length-out"
FEW, MANY = 32, 128  # concurrency
SHORT, LONG = 2048, 8000  # tokens of a prompt
ANCHORS = (1, 3)  # points of each recipe of what is left out
SEED = 42


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Points that are fitted to, and points that are scored, by masks; `name` is what is left out."""

    name: str
    fit: Bools
    test: Bools


def cases(split: str, served: Served) -> Iterator[Case]:
    """The cases of a split. But for the known stacks, points of both halves are fitted to and scored.

    Raises:
        UnknownNameError: no such split.
    """
    if split not in SPLITS:
        raise UnknownNameError.among("split of serving points", split, SPLITS)
    return SPLITS[split](served)


def anchors(labels: Labels, test: Bools, count: int) -> Bools:
    """So many points of each recipe, drawn at random."""
    drawn, chosen = np.random.default_rng(SEED), np.zeros(len(labels), dtype=bool)
    for rows in labels.groups(RECIPE).values():
        of_test = rows[test[rows]]
        chosen[drawn.permutation(of_test)[:count]] = True
    return chosen


def _known(served: Served) -> Iterator[Case]:
    yield Case("", ~served.points.is_test, served.points.is_test)


def _left_out(name: str) -> Callable[[Served], Iterator[Case]]:
    def each(served: Served) -> Iterator[Case]:
        values = getattr(served.points, name)
        for value in sorted(set(values.tolist())):
            yield Case(value, values != value, values == value)

    return each


def _concurrency(served: Served) -> Iterator[Case]:
    clients = served.points.concurrency
    yield Case(f"from {MANY} on", clients <= FEW, clients >= MANY)


def _length(served: Served) -> Iterator[Case]:
    isl = served.points.isl
    yield Case(f"from {LONG} on", isl <= SHORT, isl >= LONG)


SPLITS = {
    KNOWN: _known, FAMILY_OUT: _left_out("family"), GPU_OUT: _left_out("gpu"), CONCURRENCY_OUT: _concurrency,
    LENGTH_OUT: _length,
}  # fmt: skip
