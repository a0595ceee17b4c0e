"""Rows of an Nsight Systems export, told apart by process: each has an event table of its own.

A row's process is in its global id: `globalPid`, or `globalTid` with the thread in its last 24 bits. Correlation ids
repeat from process to process, so that a launch is looked for in its own only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..light_classes import dataclass
from .building import Builder
from .events import Column
from .nsys_tables import ABSENT, Tables

PROCESS_BITS = 24
LOW_BITS = 2**PROCESS_BITS - 1
PLACE = ("start", "end")  # the columns that every table begins with, and a global id


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one process; `own` are all columns as they are, the first are start, end and the global id."""

    process: int
    builder: Builder
    start: Column
    dur: Column
    own: Column
    texts: list[str | None]

    def add(self, kind: Any, name: Any, **columns: Any) -> Column:
        """Appends one event for each row and returns their places."""
        return self.builder.add(
            len(self.start), kind=kind, name=name, start_ns=self.start, dur_ns=self.dur,
            process=self.process & LOW_BITS, **columns,
        )  # fmt: skip

    def named(self, columns: Sequence[int], text: Callable[..., str]) -> Column:
        """Ids of names that these columns make; each distinct one is made once."""
        distinct, place = np.unique(self.own[:, columns], axis=0, return_inverse=True)
        texts = self.builder.texts
        return np.array([texts[text(*key)] for key in distinct.tolist()], dtype=np.int32)[place.reshape(-1)]


class Rows:
    """The rows of an export and the builders of its processes; `left_out` counts what is in neither."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.builders: dict[int, Builder] = {}
        self.left_out: Counter[str] = Counter()
        self._unsaid = _sole_process(tables)

    def batches(self, table: str, columns: Sequence[str], what: str) -> Iterator[Batch]:
        """Rows of a table that have times, by process."""
        for numbers, texts in self.tables.rows(table, (*PLACE, *columns)):
            yield from self.split(numbers, texts, what)

    def split(self, numbers: Column, texts: list[str | None], what: str) -> Iterator[Batch]:
        """The same for rows that are read already."""
        start, end, where = numbers[:, 0], numbers[:, 1], numbers[:, 2]
        timed = (start != ABSENT) & (end != ABSENT)
        kept = timed & (end >= start)
        self.count(f"{what} without a begin or an end", ~timed)
        self.count(f"{what} with a negative duration", timed & ~kept)
        process = np.where(where == ABSENT, self._unsaid, where >> PROCESS_BITS)
        for one in np.unique(process[kept]).tolist():
            rows = np.flatnonzero(kept & (process == one))
            builder = self.builders.setdefault(one, Builder())
            picked = [texts[row] for row in rows.tolist()]
            yield Batch(one, builder, start[rows], end[rows] - start[rows], numbers[rows], picked)

    def count(self, what: str, which: Column) -> None:
        if which.any():
            self.left_out[what] += int(which.sum())


def or_none(column: Column) -> Column:
    """-1 where there is no number."""
    return np.where(column == ABSENT, -1, column)


def _sole_process(tables: Tables) -> int:
    """The process that calls the runtime, if it is one: kernels of exports without `globalPid` are of it; else -1."""
    if "globalPid" in tables.columns("CUPTI_ACTIVITY_KIND_KERNEL"):
        return -1
    found: set[int] = set()
    for numbers, _ in tables.rows("CUPTI_ACTIVITY_KIND_RUNTIME", ("globalTid",)):
        found.update(np.unique(numbers >> PROCESS_BITS).tolist())
    return found.pop() if len(found) == 1 else -1
