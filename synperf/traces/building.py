"""From pieces of columns, in any order, to the event table."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .events import GPU_WORK, SIDES, Column, Events, Kind, among

_FIRST, _FIRST_BESIDE = 2**17, 2**12  # rows that there is room for at first; what is not filled takes no memory


class Texts(dict[str, int]):
    """Ids of texts: a text that is asked for the first time gets the next one."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class Pile:
    """Rows of one table, as they come. Columns grow in place, so that memory holds each of them once."""

    def __init__(self, table: type, first: int) -> None:
        described = {f.name: f.metadata for f in fields(table) if "dtype" in f.metadata}
        self.missing = {name: one["missing"] for name, one in described.items()}
        self._texts = [name for name, one in described.items() if one["text"]]
        self.rows = 0
        self._columns = {
            name: np.empty((first, one["width"]) if one["width"] else first, dtype=one["dtype"])
            for name, one in described.items()
        }

    def add(self, rows: int, given: dict[str, Any]) -> None:
        """Appends that many rows; a column that is not given has none of its values."""
        end = self.rows + rows
        for name, missing in self.missing.items():
            column = self._columns[name]
            if end > len(column):
                column.resize((max(end, len(column) * 5 // 4), *column.shape[1:]), refcheck=False)
            column[self.rows : end] = given.get(name, missing)
        self.rows = end

    def column(self, name: str) -> Column:
        return self._columns[name][: self.rows]

    def texts(self) -> list[str]:
        """Columns whose values are ids of texts."""
        return self._texts

    def set(self, name: str, values: Column) -> None:
        """Puts values in the place of a column's."""
        self._columns[name][: self.rows] = values

    def taken(self, name: str, order: Column | slice) -> Column:
        """A column in that order, which the pile has no more."""
        return self._columns.pop(name)[: self.rows][order]


class Builder:
    """Collects the events of one trace."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.texts[""]  # every table has the empty text
        self.main = Pile(Events, _FIRST)
        self.sides = {name: Pile(table, _FIRST_BESIDE) for name, table in SIDES.items()}
        self.duplicates = 0  # events that were there twice

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

    def reorder(self, order: Column) -> None:
        """Puts the rows of the table in that order; side tables name them by their new places."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        for name in self.main.missing:
            self.main.set(name, self.main.column(name)[order])
        for pile in self.sides.values():
            pile.set("event", place[pile.column("event")])

    def latest_ns(self) -> int:
        """The last start."""
        return int(self.main.column("start_ns").max(initial=0))

    def events(self, base_ns: int = 0) -> Events:
        """The table, in order; `base_ns` is added to every start. The builder is empty afterwards.

        Of what is there twice, the same in all that identifies it, one is kept.
        """
        start, dur = self.main.column("start_ns"), self.main.column("dur_ns")
        order = _order(start, dur, self.main.column("kind"))
        twice = self._twice(_meeting(order, start, dur))
        self.duplicates = len(twice)
        if len(twice):
            order = order[~among(order, twice)]
        place = np.full(len(start), -1)
        place[order] = np.arange(len(order))
        del start, dur
        columns: dict[str, Any] = {name: self.main.taken(name, order) for name in self.main.missing}
        columns["start_ns"] += base_ns
        sides: dict[str, Any] = {name: _side(SIDES[name], pile, place) for name, pile in self.sides.items()}
        return Events(names=tuple(self.texts), **columns, **sides)

    def _twice(self, places: Column) -> Column:
        """Those of the events that repeat another one: GPU work, and what has an id of its own."""
        of = {name: self.main.column(name)[places] for name in self.main.missing}
        known = among(of["kind"], GPU_WORK) | (of["external"] >= 0) | (of["correlation"] >= 0)
        known &= of["kind"] != Kind.MEMORY
        places, keys = places[known], [column[known] for column in of.values()]
        order = np.lexsort(keys)
        same = np.ones(max(len(order) - 1, 0), dtype=bool)
        for key in keys:
            same &= key[order[1:]] == key[order[:-1]]
        return places[order[1:][same]]


def _order(start: Column, dur: Column, kind: Column) -> Column:
    """The order of start, of those that start together the longest first: mostly few, for which alone it is asked.

    Then the kind decides, since rows of one kind, and those alone, come as they are in the file.
    """
    order = np.argsort(start, kind="stable")
    met = _pairs(len(order), start[order[1:]] == start[order[:-1]])
    together = order[met]
    order[met] = together[np.lexsort((kind[together], -dur[together], start[together]))]
    return order


def _pairs(rows: int, same: Column) -> Column:
    """Whether each is as the next one, or as the one before, where `same` says that it is as the next one."""
    met = np.zeros(rows, dtype=bool)
    met[:-1] |= same
    met[1:] |= same
    return met


def _meeting(order: Column, start: Column, dur: Column) -> Column:
    """Places of events that have the start and the duration of another one."""
    start, dur = start[order], dur[order]
    return order[_pairs(len(order), (start[1:] == start[:-1]) & (dur[1:] == dur[:-1]))]


def _side(table: type, pile: Pile, place: Column) -> Any:
    event = place[pile.taken("event", slice(None))]
    order = np.argsort(event, kind="stable")
    order = order[event[order] >= 0]
    rest = {name: pile.taken(name, order) for name in pile.missing if name != "event"}
    return table(event=event[order], **rest)
