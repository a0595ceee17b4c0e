"""Batches of Kineto's events as rows of the event table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from .building import Builder
from .decimals import NONE, scaled
from .events import GPU_KINDS, GPU_WORK, Column, Kind
from .kineto_events import NO_ARGS, NOTHING, UNKNOWN, Args, Event, Kinds, number, share

PLACES = 3  # decimal places between µs, which the file has, and ns
PYTHON_NS = 100_000  # shorter frames of Python are left out unless all are asked for: they explain no long gap
_ZERO = Raw(b"0")
_INSTANTS = (Kind.MARK, Kind.MEMORY)
_NO_TRIPLE = (-1, -1, -1)


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
        self.halves: list[Event] = []
        self._texts = _RawTexts(builder.texts)
        self._triples = _Triples()

    def add(self, batch: Sequence[Event]) -> None:
        """Adds the events of a batch that are of a kind that the table has."""
        known = self.kinds
        codes = np.array([known[event.ph, event.cat] for event in batch], dtype=np.int8)
        self.unknown += int((codes == UNKNOWN).sum())
        if known.halves:
            self.halves += [event for event in batch if event.ph in "BE"]
        chosen = np.flatnonzero(codes > 0)
        events = [batch[place] for place in chosen.tolist()]
        start = scaled([event.ts for event in events], PLACES)
        has_none = np.array([event.dur is NOTHING for event in events], dtype=bool)
        dur = scaled([_ZERO if event.dur is NOTHING else event.dur for event in events], PLACES)
        kind = codes[chosen]
        dur[has_none & ~np.isin(kind, _INSTANTS)] = NONE
        self.add_timed(events, kind, start, dur)

    def add_timed(self, events: Sequence[Event], kind: Column, start: Column, dur: Column) -> None:
        """Adds events whose times are known; those without a time, or with a negative duration, are counted."""
        untimed = (start == NONE) | (dur == NONE) | ((start == 0) & (dur == 0) & np.isin(kind, GPU_WORK))
        negative = ~untimed & (dur < 0)
        self.untimed.update(map(Kind, kind[untimed].tolist()))
        self.negative.update(map(Kind, kind[negative].tolist()))
        kept = ~(untimed | negative)
        if not self.python:
            kept &= (kind != Kind.PYTHON) | (dur >= PYTHON_NS)
        if not kept.all():
            places = np.flatnonzero(kept)
            events = [events[place] for place in places.tolist()]
            kind, start, dur = kind[places], start[places], dur[places]
        if events:
            self._append(events, kind, start, dur)

    def _append(self, events: Sequence[Event], kind: Column, start: Column, dur: Column) -> None:
        args = [event.args or NO_ARGS for event in events]
        texts = self.builder.texts
        name = np.array([texts[event.name] for event in events])
        self.nameless.update(map(Kind, kind[name == 0].tolist()))
        kind = np.where((kind == Kind.MARK) & (ints([a.memory_bytes for a in args]) != -1), Kind.MEMORY, kind)
        process = self._places([event.pid for event in events])
        thread = self._places([event.tid for event in events])
        device = ints([a.device for a in args])
        stream = ints([a.stream for a in args])
        external = [a.external if a.external != -1 else a.external_old for a in args]
        on_gpu = np.isin(kind, GPU_KINDS)
        place = self.builder.add(
            len(events),
            kind=kind, name=name, start_ns=start, dur_ns=dur, process=process, thread=thread,
            device=_small(np.where(on_gpu, np.where(device >= 0, device, process), -1)),
            stream=np.where(on_gpu, np.where(stream >= 0, stream, thread), -1),
            correlation=ints([a.correlation for a in args]), external=ints(external),
        )  # fmt: skip
        self._add_sides(place, kind, args)

    def _places(self, values: Sequence[Any]) -> Column:
        """Processes or threads as numbers: of `stream 7` it is 7, of any other text one below -1 that is its own."""
        try:
            return np.array(values, dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            return np.array([self._place(value) for value in values], dtype=np.int64)

    def _place(self, value: Any) -> int:
        if not isinstance(value, str):
            return number(value)
        digits = value.removeprefix("stream ").strip()
        return (
            int(digits)
            if digits.isascii() and digits.isdigit() and len(digits) < 19
            else -2 - self.builder.texts[value]
        )

    def _add_sides(self, place: Column, kind: Column, args: Sequence[Args]) -> None:
        self._side("geometry", place, args, kind == Kind.KERNEL, lambda a: a.registers != -1 or a.grid is not NOTHING)
        moving = (kind == Kind.MEMCPY) | (kind == Kind.MEMSET)
        self._side("moved", place, args, moving, lambda a: a.bytes != -1)
        called = (kind == Kind.OPERATOR) | (kind == Kind.ANNOTATION)
        self._side("arguments", place, args, called, lambda a: a.dims is not NOTHING or a.dims_old is not NOTHING)
        self._side("messages", place, args, called | (kind == Kind.KERNEL), lambda a: a.collective != -1)
        self._side("allocations", place, args, kind == Kind.MEMORY, lambda _: True)
        self._side("frames", place, args, kind == Kind.PYTHON, lambda _: True)

    def _side(self, side: str, place: Column, args: Sequence[Args], mask: Column, has: Callable[[Args], bool]) -> None:
        """Appends to a side table those of the chosen events that have what it is about."""
        rows = [row for row in np.flatnonzero(mask).tolist() if has(args[row])]
        if rows:
            columns = getattr(self, f"_{side}")([args[row] for row in rows])
            self.builder.add_side(side, place[rows], **columns)

    def _geometry(self, args: Sequence[Args]) -> dict[str, Any]:
        occupancy = [share(a.occupancy if a.occupancy != -1 else a.occupancy_old) for a in args]
        return {
            "grid": [self._triples[bytes(a.grid)] for a in args],
            "block": [self._triples[bytes(a.block)] for a in args],
            "registers": _small(ints([a.registers for a in args])),
            "shared_bytes": ints([a.shared_bytes for a in args]),
            "occupancy": occupancy,
        }

    def _moved(self, args: Sequence[Args]) -> dict[str, Any]:
        return {"bytes": ints([a.bytes for a in args])}

    def _arguments(self, args: Sequence[Args]) -> dict[str, Any]:
        texts = self._texts
        return {
            "dims": [texts[bytes(a.dims if a.dims is not NOTHING else a.dims_old)] for a in args],
            "types": [texts[bytes(a.types)] for a in args],
            "strides": [texts[bytes(a.strides)] for a in args],
            "values": [texts[bytes(a.values)] for a in args],
        }

    def _messages(self, args: Sequence[Args]) -> dict[str, Any]:
        texts = self.builder.texts
        return {
            "collective": [texts[_text(a.collective)] for a in args],
            "dtype": [texts[_text(a.dtype)] for a in args],
            "in_elements": ints([a.in_elements for a in args]),
            "out_elements": ints([a.out_elements for a in args]),
            "group_size": _small(ints([a.group_size for a in args])),
            "group": [texts[_text(a.group)] for a in args],
            "ranks": [self._texts[bytes(a.ranks)] for a in args],
        }

    def _allocations(self, args: Sequence[Args]) -> dict[str, Any]:
        return {
            "bytes": ints([a.memory_bytes for a in args]),
            "address": ints([a.address for a in args]),
            "device_type": _small(ints([a.device_type for a in args])),
            "device": _small(ints([a.device_id for a in args])),
            "allocated_bytes": ints([a.allocated_bytes for a in args]),
            "reserved_bytes": ints([a.reserved_bytes for a in args]),
        }

    def _frames(self, args: Sequence[Args]) -> dict[str, Any]:
        return {"frame": ints([a.frame for a in args]), "parent": ints([a.parent for a in args])}


class _RawTexts(dict[bytes, int]):
    """Ids of undecoded texts."""

    def __init__(self, texts: Any) -> None:
        self.texts = texts

    def __missing__(self, raw: bytes) -> int:
        self[raw] = found = self.texts[raw.decode("utf-8", "replace")]
        return int(found)


class _Triples(dict[bytes, tuple[int, ...]]):
    """Undecoded lists of three numbers; what is none is `_NO_TRIPLE`."""

    def __missing__(self, raw: bytes) -> tuple[int, ...]:
        try:
            found = tuple(msgspec.json.decode(raw, type=list[int], strict=False))
        except msgspec.MsgspecError:
            found = ()
        right = len(found) == len(_NO_TRIPLE) and all(0 < n < 2**31 for n in found)
        self[raw] = kept = found if right else _NO_TRIPLE
        return kept


def ints(values: Sequence[Any]) -> Column:
    """Whole numbers of 64 bits; what is none is -1."""
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([number(value) for value in values], dtype=np.int64)


def _small(values: Column) -> Column:
    """Numbers of 15 bits stay, so that they fit every narrower column; others are -1."""
    return np.where((values >= 0) & (values < 2**15), values, -1)


def _text(value: Any) -> str:
    return "" if value == -1 or value is None else str(value)
