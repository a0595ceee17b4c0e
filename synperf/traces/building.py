"""From pieces of columns, in any order, to the event table."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .events import GPU_WORK, SIDES, Column, Events


class Texts(dict[str, int]):
    """Ids of texts: a text that is asked for the first time gets the next one."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class Pile:
    """Rows of one table, as they come."""

    def __init__(self, table: type) -> None:
        self.columns = {f.name: f.metadata for f in fields(table) if "dtype" in f.metadata}
        self.parts: dict[str, list[Column]] = {name: [] for name in self.columns}
        self.rows = 0

    def add(self, rows: int, given: dict[str, Any]) -> None:
        """Appends that many rows; a column that is not given has none of its values."""
        for name, described in self.columns.items():
            shape = (rows, described["width"]) if described["width"] else (rows,)
            value = given.get(name, described["missing"])
            part = np.asarray(value, dtype=described["dtype"])
            self.parts[name].append(part if part.shape == shape else np.broadcast_to(part, shape))
        self.rows += rows

    def whole(self, name: str) -> Column:
        """A column; its pieces are one from then on."""
        parts = self.parts[name]
        if len(parts) != 1:
            described = self.columns[name]
            shape = (0, described["width"]) if described["width"] else 0
            parts[:] = [np.concatenate(parts) if parts else np.empty(shape, dtype=described["dtype"])]
        return parts[0]

    def taken(self, name: str, order: Column | slice) -> Column:
        """A column in that order, which the pile has no more."""
        whole = self.whole(name)
        del self.parts[name]
        return whole[order]


class Builder:
    """Collects the events of one trace."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.texts[""]  # every table has the empty text
        self.main = Pile(Events)
        self.sides = {name: Pile(table) for name, table in SIDES.items()}
        self.duplicates = 0  # GPU work that was there twice

    def __len__(self) -> int:
        return self.main.rows

    def add(self, rows: int, **columns: Any) -> Column:
        """Appends events and returns their places, by which side tables name them; a scalar is for all of them."""
        first = self.main.rows
        self.main.add(rows, columns)
        return np.arange(first, first + rows)

    def add_side(self, side: str, event: Column, **columns: Any) -> None:
        """Appends rows of a side table (`SIDES`); `event` are places that `add` returned."""
        if len(event):
            self.sides[side].add(len(event), {"event": event, **columns})

    def events(self, base_ns: int = 0) -> Events:
        """The table, in order; `base_ns` is added to every start. The builder is empty afterwards.

        Of GPU work that is there twice, the same in all that identifies it, one is kept.
        """
        start, dur = self.main.whole("start_ns"), self.main.whole("dur_ns")
        twice = self._twice(start, dur)
        self.duplicates = len(twice)
        order = np.lexsort((-dur, start))
        if len(twice):
            order = order[~np.isin(order, twice)]
        place = np.full(len(start), -1)
        place[order] = np.arange(len(order))
        del start, dur
        columns: dict[str, Any] = {name: self.main.taken(name, order) for name in self.main.columns}
        columns["start_ns"] += base_ns
        sides: dict[str, Any] = {name: _side(SIDES[name], pile, place) for name, pile in self.sides.items()}
        return Events(names=tuple(self.texts), **columns, **sides)

    def _twice(self, start: Column, dur: Column) -> Column:
        """Places of GPU work that repeats another."""
        work = np.flatnonzero(np.isin(self.main.whole("kind"), GPU_WORK))
        rest = [self.main.whole(name)[work] for name in ("name", "device", "stream", "correlation")]
        keys = [start[work], dur[work], *rest]
        order = np.lexsort(keys)
        same = np.ones(max(len(order) - 1, 0), dtype=bool)
        for key in keys:
            same &= key[order[1:]] == key[order[:-1]]
        return work[order[1:][same]]


def _side(table: type, pile: Pile, place: Column) -> Any:
    event = place[pile.taken("event", slice(None))]
    order = np.argsort(event, kind="stable")
    order = order[event[order] >= 0]
    rest = {name: pile.taken(name, order) for name in pile.columns if name != "event"}
    return table(event=event[order], **rest)
