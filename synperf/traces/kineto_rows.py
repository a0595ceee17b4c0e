"""Batches of Kineto's events as rows of the event table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .building import Builder, Texts
from .decimals import NONE
from .events import CALLS, GPU_KINDS, GPU_WORK, Column, Kind
from .kineto_batches import Batch
from .kineto_events import Event
from .kineto_kinds import UNKNOWN, Kinds
from .kineto_sides import Sides
from .loose import number

PYTHON_NS = 100_000  # shorter frames of Python are left out unless all are asked for: they explain no long gap
LATEST_NS = 2**62  # in the year 2116: a start and a duration below it add up within 64 bits
LONGEST_NS = 2**53  # 104 days: a thousand of them add up within 64 bits
_SHOWN = 5  # categories
_MEMORY = "[memory]"
_NO_KINDS = (Kind.OTHER, UNKNOWN)
_INSTANTS = (Kind.MARK, Kind.MEMORY)
_LAUNCHED = (*GPU_KINDS, *CALLS)  # what has a correlation
_UNDER_OPERATORS = (*_LAUNCHED, Kind.OPERATOR, Kind.ANNOTATION)  # what has an external id


class Rows:
    """Collects events, and counts what it leaves out, by kind where that is known."""

    def __init__(self, builder: Builder, python: bool) -> None:
        self.builder = builder
        self.python = python
        self.kinds = Kinds()
        self.unknown = 0
        self.untimed: Counter[Kind] = Counter()
        self.negative: Counter[Kind] = Counter()
        self.nameless: Counter[Kind] = Counter()
        self.placeless: Counter[Kind] = Counter()
        self.halves: list[Event] = []
        self._numbers = _Numbers(builder.texts)
        self._sides = Sides(builder)

    def add(self, batch: Batch) -> None:
        """Adds the events of a batch that are of a kind that the table has."""
        known = self.kinds
        codes = batch.kinds(known)
        self.unknown += int((codes == UNKNOWN).sum())
        if known.halves:
            self.halves += batch.halves()
        for kind in map(Kind, [code for code in np.flatnonzero(np.bincount(codes)).tolist() if code not in _NO_KINDS]):
            events = batch.taken(np.flatnonzero(codes == kind))
            if kind == Kind.MARK:
                is_memory = np.array([name == _MEMORY for name in events.values("name")], dtype=bool)
                self._add_kind(Kind.MEMORY, events.taken(np.flatnonzero(is_memory)))
                events = events.taken(np.flatnonzero(~is_memory))
            self._add_kind(kind, events)

    def some_unknown(self) -> str:
        """Some of the categories that nobody knows."""
        return ", ".join(sorted(self.kinds.unknown)[:_SHOWN])

    def _add_kind(self, kind: Kind, events: Batch) -> None:
        start = events.scaled("ts")
        dur = np.zeros(len(events), dtype=np.int64) if kind in _INSTANTS else events.scaled("dur")
        self.add_timed(kind, events, start, dur)

    def add_timed(self, kind: Kind, events: Batch, start: Column, dur: Column) -> None:
        """Adds events of one kind; those without a time, or with a negative duration, are counted."""
        untimed = (start == NONE) | (dur == NONE) | (np.abs(start) > LATEST_NS) | (dur > LONGEST_NS)
        if kind in GPU_WORK and (zero := (start == 0) & (dur == 0)).any():
            untimed |= zero
            self._append(Kind.UNTIMED, events.taken(np.flatnonzero(zero)), start[zero], dur[zero])
        negative = ~untimed & (dur < 0)
        self.untimed[kind] += int(untimed.sum())
        self.negative[kind] += int(negative.sum())
        kept = ~(untimed | negative)
        if kind == Kind.PYTHON and not self.python:
            kept &= dur >= PYTHON_NS
        if not kept.all():
            events, start, dur = events.taken(np.flatnonzero(kept)), start[kept], dur[kept]
        if len(events):
            self._append(kind, events, start, dur)

    def _append(self, kind: Kind, events: Batch, start: Column, dur: Column) -> None:
        name = events.numbered("name", self.builder.texts)
        self.nameless[kind] += int((name == 0).sum())
        process, thread = (events.numbered(place, self._numbers) for place in ("pid", "tid"))
        device, stream = _where(events, process, thread) if kind in GPU_KINDS else (-1, -1)
        if kind in GPU_WORK:
            self.placeless[kind] += int(np.count_nonzero(device < 0))
        place = self.builder.add(
            len(events),
            kind=kind, name=name, start_ns=start, dur_ns=dur, process=process, thread=thread, device=device,
            stream=stream, correlation=events.whole("correlation") if kind in _LAUNCHED else -1,
            external=_external(events) if kind in _UNDER_OPERATORS else -1,
        )  # fmt: skip
        self._sides.add(kind, place, events)


class _Numbers(dict[Any, int]):
    """Of `stream 7` it is 7, of any other text that is no number one below -1 that is its own."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __missing__(self, value: Any) -> int:
        found = number(value.removeprefix("stream ").strip() if isinstance(value, str) else value)
        self[value] = kept = found if found >= 0 or not isinstance(value, str) else -2 - self.texts[value]
        return kept


def _where(events: Batch, process: Column, thread: Column) -> tuple[Column, Column]:
    """Device and stream: those of the arguments, else the process and the thread."""
    device, stream = events.whole("device"), events.whole("stream")
    device = np.where(_is_device(device), device, process)
    return np.where(_is_device(device), device, -1), np.where(stream >= 0, stream, thread)


def _is_device(number: Column) -> Column:
    return (number >= 0) & (number < 2**31)


def _external(events: Batch) -> Column:
    """Ids of operators, in either spelling."""
    new = events.whole("external")
    return np.where(new != -1, new, events.whole("external_old")) if (new == -1).any() else new
