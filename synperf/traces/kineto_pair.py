"""One large file read by two processes: each unpacks all of it and decodes every other run of events.

The table is the same, to the order of its rows and texts, as that of one process. Where a run of events is not a plain
list (damage, odd types, the end of the list in the middle), or begins and ends stand apart, nothing is given: one
process reads such a file.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..light_classes import dataclass
from .building import Builder, Pile, Texts
from .events import Column, Kind
from .json_events import JsonEvents
from .kineto_events import Event
from .kineto_rows import MOST_TEXTS, Rows, is_text
from .sources import Source

_WORTH_BYTES = 2**19  # of a packed file, which is about eight times as much unpacked; less is read before a fork pays
_PLAIN = 8  # times as many of one that is not packed
_PLACES = ("process", "thread", "device", "stream")  # columns whose numbers may stand for texts


class UnevenError(Exception):
    """The file is not one that two processes can read side by side."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one run of events left: its number, and how many rows and texts there were after it."""

    number: int
    rows: int
    texts: int


class _Half(JsonEvents[Event]):
    """Every other run of events, by its number; the last one is that of the process with turn 0."""

    def __init__(self, source: Source, turn: int) -> None:
        super().__init__(source, Event)
        self.turn = turn
        self.number = 0

    def _cut(self, text: bytes) -> tuple[list[Event], bytes]:
        cut, after = self.boundary(text)
        if not cut:
            return [], text
        self.number += 1
        if self.number % 2 != self.turn:
            return [], text[after:]
        events = self.pieces.attempt(memoryview(text)[:cut])
        if events is None:
            raise UnevenError
        return events, text[after:]

    def _bounded(self, rest: bytes) -> bytes:
        if super()._bounded(rest) is not rest:
            raise UnevenError
        return rest

    def _describe(self, text: bytes) -> None:
        if not self.turn:  # one of them is enough
            super()._describe(text)

    def _last(self, text: bytes) -> tuple[list[Event], bytes]:
        self.number += 1
        return ([], b"") if self.turn else super()._last(text)


class Reading:
    """One process's part of a file: its events as rows, and the turns that it took."""

    def __init__(self, source: Source, python: bool, turn: int) -> None:
        self.stream = _Half(source, turn)
        self.builder = Builder()
        self.rows = Rows(self.builder, python)
        self.turns = [Turn(0, 0, len(self.builder.texts))]

    def run(self) -> None:
        """Reads the part.

        Raises:
            UnevenError: two processes cannot read the file side by side.
            FileFormatError: there is no list of events.
        """
        for batch in self.stream.batches():
            if batch:
                self.rows.add(batch)
                self.turns.append(Turn(self.stream.number, len(self.builder), len(self.builder.texts)))
        if self.rows.halves or self.rows.has_odd_places() or len(self.builder.texts) > MOST_TEXTS:
            raise UnevenError


def read(path: Path, python: bool, source: Source) -> Reading | None:
    """The whole file, as the reading of one process; None where one has to read it."""
    if not _worth(path):
        return None
    receive, send = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries, which the child does not need
        child = os.fork()
    if not child:
        _child(path, python, receive, send)
    os.close(send)
    try:
        with os.fdopen(receive, "rb") as pipe:
            mine = Reading(source, python, 0)
            mine.run()
            return _joined(mine, pickle.load(pipe))  # which this very program has written
    except (UnevenError, EOFError, pickle.UnpicklingError):
        return None
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _worth(path: Path) -> bool:
    """Whether a second process would be done earlier than one, and may be forked."""
    if not hasattr(os, "fork") or threading.active_count() > 1 or len(_cores()) < 2 or _is_one_of_many():
        return False
    with path.open("rb") as file:
        is_packed = file.read(1) in (b"\x1f", b"\x28")
    return path.stat().st_size >= _WORTH_BYTES * (1 if is_packed else _PLAIN)


def _is_one_of_many() -> bool:
    """Whether this is one of several processes that read a file each (`side_by_side`)."""
    module = sys.modules.get("multiprocessing.process")
    return module is not None and bool(module.current_process().daemon)


def _cores() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def _child(path: Path, python: bool, receive: int, send: int) -> None:
    """Reads its part, sends it, and ends the process, whatever happens."""
    try:
        os.close(receive)
        part = Reading(Source(path), python, 1)
        part.run()
        with os.fdopen(send, "wb") as pipe:
            _send(part, pipe)
    finally:
        os._exit(0)


def _send(part: Reading, pipe: BinaryIO) -> None:
    rows, pieces = part.rows, part.stream.pieces
    piles = {name: {one: pile.column(one) for one in pile.missing} for name, pile in _piles(part.builder).items()}
    counts = {name: dict(found) for name, found in _counters(rows).items()}
    sent = (part.turns, list(part.builder.texts), piles, counts, rows.unknown, rows.kinds.unknown, pieces.mended)
    pickle.dump(sent, pipe, protocol=5)


def _counters(rows: Rows) -> dict[str, Counter[Kind]]:
    return {name: found for name, found in vars(rows).items() if isinstance(found, Counter)}


def _piles(builder: Builder) -> dict[str, Pile]:
    return {"": builder.main, **builder.sides}


def _joined(mine: Reading, theirs: Any) -> Reading:
    """One reading with the rows and texts of both, in the order of the file."""
    turns, texts, piles, counts, unknown, categories, mended = theirs
    builder, rows = mine.builder, mine.rows
    ordered = _order(mine.turns, turns)
    ours = list(builder.texts)
    builder.texts.clear()
    for is_theirs, before, after in ordered:
        for text in (texts if is_theirs else ours)[before.texts : after.texts]:
            builder.texts[text]
    _renumber(builder.main, builder.sides, _ids(builder.texts, ours))
    first = len(builder)
    _add(builder, piles, _ids(builder.texts, texts))
    builder.reorder(
        np.concatenate([
            np.arange(before.rows, after.rows) + (first if is_theirs else 0) for is_theirs, before, after in ordered
        ])
    )  # fmt: skip
    for name, found in _counters(rows).items():
        found.update(counts[name])
    rows.unknown += unknown
    rows.kinds.unknown |= categories
    mine.stream.pieces.mended += mended
    return mine


def _order(mine: list[Turn], theirs: list[Turn]) -> list[tuple[bool, Turn, Turn]]:
    """Turns of both in the order of the file, each with the one before it of the same process."""
    start = (False, Turn(0, 0, 0), mine[0])
    both = [
        (is_theirs, before, after)
        for is_theirs, turns in ((False, mine), (True, theirs))
        for before, after in pairwise(turns)
    ]
    return [start, *sorted(both, key=lambda one: one[2].number)]


def _ids(texts: Texts, some: list[str]) -> Column:
    """The new id of each old one."""
    return np.fromiter(map(texts.__getitem__, some), np.int64, len(some))


def _renumber(main: Pile, sides: dict[str, Pile], ids: Column) -> None:
    for pile in (main, *sides.values()):
        for name in pile.texts():
            pile.set(name, ids[pile.column(name)])
    for name in _PLACES:
        main.set(name, _coded(main.column(name), ids))


def _coded(values: Column, ids: Column) -> Column:
    """Places with new ids where they stand for texts."""
    is_code = is_text(values)
    return np.where(is_code, -2 - ids[np.where(is_code, -2 - values, 0)], values) if is_code.any() else values


def _add(builder: Builder, piles: dict[str, dict[str, Column]], ids: Column) -> None:
    """Appends the rows of the other process, with the ids of this one."""
    first = len(builder)
    for name, pile in _piles(builder).items():
        columns = piles[name]
        for one in pile.texts():
            columns[one] = ids[columns[one]]
        for one in _PLACES if not name else ():
            columns[one] = _coded(columns[one], ids)
        if name:
            columns["event"] = columns["event"] + first
        pile.add(len(next(iter(columns.values()))), columns)
