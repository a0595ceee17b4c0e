"""Arguments of Kineto's events as rows of the side tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from .building import Builder, Texts
from .events import Column, Kind
from .kineto_args import Message
from .kineto_events import NOTHING, Event
from .loose import number, share, structs_of

_NO_TRIPLE = (-1, -1, -1)
_RECORDS = ("record_param_comms", "nccl:")  # how names begin of operators that say what a collective moved


class Sides:
    """Fills the side tables of a builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._raw = _RawTexts(builder.texts)
        self._triples = _Triples()
        self._adders = {
            Kind.KERNEL: self._geometry,
            Kind.UNTIMED: self._geometry,
            Kind.MEMCPY: self._moved,
            Kind.MEMSET: self._moved,
            Kind.OPERATOR: self._arguments,
            Kind.ANNOTATION: self._arguments,
            Kind.MEMORY: self._allocations,
            Kind.PYTHON: self._frames,
        }

    def add(self, kind: Kind, place: Column, events: Sequence[Event], args: Sequence[Any]) -> None:
        """Appends what events of one kind have beside the columns of the table."""
        if kind in self._adders:
            self._adders[kind](place, args)
        if kind == Kind.KERNEL:
            self._messages(place, events, [row for row, one in enumerate(args) if one.collective])
        elif kind in (Kind.OPERATOR, Kind.ANNOTATION):
            self._messages(place, events, [row for row, one in enumerate(events) if one.name.startswith(_RECORDS)])

    def _geometry(self, place: Column, args: Sequence[Any]) -> None:
        has = [row for row, a in enumerate(args) if a.registers != -1 or a.grid is not NOTHING]
        chosen = args if len(has) == len(args) else [args[row] for row in has]
        self.builder.add_side(
            "geometry",
            place[has],
            grid=self._triples.of(map(attrgetter("grid"), chosen)),
            block=self._triples.of(map(attrgetter("block"), chosen)),
            registers=small([a.registers for a in chosen]),
            shared_bytes=ints([a.shared_bytes for a in chosen]),
            occupancy=[share(a.occupancy if a.occupancy is not None else a.occupancy_old) for a in chosen],
        )

    def _moved(self, place: Column, args: Sequence[Any]) -> None:
        moved = ints([a.bytes for a in args])
        self.builder.add_side("moved", place[moved >= 0], bytes=moved[moved >= 0])

    def _arguments(self, place: Column, args: Sequence[Any]) -> None:
        has = [row for row, a in enumerate(args) if a.dims is not NOTHING or a.dims_old is not NOTHING]
        chosen, texts = args if len(has) == len(args) else [args[row] for row in has], self._raw
        self.builder.add_side(
            "arguments",
            place[has],
            dims=[texts[bytes(a.dims if a.dims is not NOTHING else a.dims_old)] for a in chosen],
            types=[texts[bytes(a.types)] for a in chosen],
            strides=[0 if a.strides is NOTHING else texts[bytes(a.strides)] for a in chosen],
            values=[0 if a.values is NOTHING else texts[bytes(a.values)] for a in chosen],
        )

    def _messages(self, place: Column, events: Sequence[Event], rows: Sequence[int]) -> None:
        found = structs_of(Message, [events[row].args for row in rows])
        told = [(row, one) for row, one in zip(rows, found, strict=True) if one.collective]
        chosen, texts = [one for _, one in told], self.builder.texts
        self.builder.add_side(
            "messages",
            place[[row for row, _ in told]] if told else place[:0],
            collective=[texts[_text(m.collective)] for m in chosen],
            dtype=[texts[_text(m.dtype)] for m in chosen],
            in_elements=ints([m.in_elements for m in chosen]),
            out_elements=ints([m.out_elements for m in chosen]),
            group_size=small([m.group_size for m in chosen]),
            group=[texts[_text(m.group)] for m in chosen],
            ranks=[self._raw[bytes(m.ranks)] for m in chosen],
        )

    def _allocations(self, place: Column, args: Sequence[Any]) -> None:
        self.builder.add_side(
            "allocations",
            place,
            bytes=ints([a.bytes for a in args]),
            address=ints([a.address for a in args]),
            device_type=small([a.device_type for a in args]),
            device=small([a.device for a in args]),
            allocated_bytes=ints([a.allocated_bytes for a in args]),
            reserved_bytes=ints([a.reserved_bytes for a in args]),
        )

    def _frames(self, place: Column, args: Sequence[Any]) -> None:
        frame, parent = ints([a.frame for a in args]), ints([a.parent for a in args])
        self.builder.add_side("frames", place, frame=frame, parent=parent)


class _RawTexts(dict[bytes, int]):
    """Ids of undecoded texts."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __missing__(self, raw: bytes) -> int:
        self[raw] = found = self.texts[raw.decode("utf-8", "replace")]
        return found


class _Triples(dict[bytes, int]):
    """Places in a list of undecoded lists of three numbers; what is none is `_NO_TRIPLE`."""

    def __init__(self) -> None:
        self.found: list[tuple[int, ...]] = []

    def of(self, raws: Iterable[Raw]) -> Column:
        """A row of three for each."""
        places = [self[raw] for raw in map(bytes, raws)]
        return np.array(self.found, dtype=np.int64).reshape(-1, len(_NO_TRIPLE))[places]

    def __missing__(self, raw: bytes) -> int:
        self[raw] = place = len(self.found)
        self.found.append(self._triple(raw))
        return place

    @staticmethod
    def _triple(raw: bytes) -> tuple[int, ...]:
        try:
            found = tuple(msgspec.json.decode(raw, type=list[int], strict=False)) if raw else ()
        except msgspec.MsgspecError:
            found = ()
        right = len(found) == len(_NO_TRIPLE) and all(0 < n < 2**31 for n in found)
        return found if right else _NO_TRIPLE


def ints(values: Sequence[Any]) -> Column:
    """Whole numbers of 64 bits; what is none is -1."""
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([number(value) for value in values], dtype=np.int64)


def small(values: Sequence[Any]) -> Column:
    """Whole numbers of 15 bits, which fit every narrow column; what is none is -1."""
    found = ints(values)
    return np.where((found >= 0) & (found < 2**15), found, -1)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
