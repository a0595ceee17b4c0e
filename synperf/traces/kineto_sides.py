"""Arguments of Kineto's events as rows of the side tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from .building import Builder, Texts
from .events import Column, Kind
from .kineto_args import NOTHING, Args
from .kineto_events import Event
from .loose import number, share

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

    def add(self, kind: Kind, place: Column, events: Sequence[Event], args: Sequence[Args]) -> None:
        """Appends what events of one kind have beside the columns of the table."""
        if kind in self._adders:
            self._adders[kind](place, args)
        if kind == Kind.KERNEL:
            self._messages(place, args, [row for row, one in enumerate(args) if one.collective])
        elif kind in (Kind.OPERATOR, Kind.ANNOTATION):
            told = [row for row, one in enumerate(args) if one.collective]
            self._messages(place, args, [row for row in told if events[row].name.startswith(_RECORDS)])

    def _geometry(self, place: Column, args: Sequence[Args]) -> None:
        has = [row for row, a in enumerate(args) if a.registers != -1 or a.grid is not NOTHING]
        chosen = args if len(has) == len(args) else [args[row] for row in has]
        self.builder.add_side(
            "geometry",
            place[has],
            grid=self._triples.of([one.grid for one in chosen]),
            block=self._triples.of([one.block for one in chosen]),
            registers=small(ints([one.registers for one in chosen])),
            shared_bytes=ints([one.shared_bytes for one in chosen]),
            occupancy=shares([a.occupancy if a.occupancy is not None else a.occupancy_old for a in chosen]),
        )

    def _moved(self, place: Column, args: Sequence[Args]) -> None:
        moved = ints([one.bytes for one in args])
        self.builder.add_side("moved", place[moved >= 0], bytes=moved[moved >= 0])

    def _arguments(self, place: Column, args: Sequence[Args]) -> None:
        has = [row for row, a in enumerate(args) if a.dims is not NOTHING or a.dims_old is not NOTHING]
        chosen = args if len(has) == len(args) else [args[row] for row in has]
        self.builder.add_side(
            "arguments",
            place[has],
            dims=self._raw.of([a.dims if a.dims is not NOTHING else a.dims_old for a in chosen]),
            types=self._raw.of([a.types for a in chosen]),
            strides=self._raw.of([a.strides for a in chosen]),
            values=self._raw.of([a.values for a in chosen]),
        )

    def _messages(self, place: Column, args: Sequence[Args], told: Sequence[int]) -> None:
        chosen, texts = [args[row] for row in told], self.builder.texts
        self.builder.add_side(
            "messages",
            place[told],
            collective=[texts[_text(m.collective)] for m in chosen],
            dtype=[texts[_text(m.dtype)] for m in chosen],
            in_elements=ints([one.in_elements for one in chosen]),
            out_elements=ints([one.out_elements for one in chosen]),
            group_size=small(ints([one.group_size for one in chosen])),
            group=[texts[_text(m.group)] for m in chosen],
            ranks=self._raw.of([m.ranks for m in chosen]),
        )

    def _allocations(self, place: Column, args: Sequence[Args]) -> None:
        self.builder.add_side(
            "allocations",
            place,
            bytes=ints([one.changed_bytes for one in args]),
            address=ints([one.address for one in args]),
            device_type=small(ints([one.memory_type for one in args])),
            device=small(ints([one.memory_device for one in args])),
            allocated_bytes=ints([one.allocated_bytes for one in args]),
            reserved_bytes=ints([one.reserved_bytes for one in args]),
        )

    def _frames(self, place: Column, args: Sequence[Args]) -> None:
        self.builder.add_side(
            "frames", place, frame=ints([one.frame for one in args]), parent=ints([one.parent for one in args])
        )


class _RawTexts(dict[bytes, int]):
    """Ids of undecoded texts."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self[b""] = texts[""]  # which is 0

    def of(self, raws: list[Raw]) -> Column:
        """The id of each."""
        if raws.count(NOTHING) == len(raws):  # as of traces without them
            return np.zeros(len(raws), dtype=np.int64)
        return numbered(self, undecoded(raws))

    def __missing__(self, raw: bytes) -> int:
        self[raw] = found = self.texts[raw.decode("utf-8", "replace")]
        return found


class _Triples(dict[bytes, int]):
    """Places in a list of undecoded lists of three numbers; what is none is `_NO_TRIPLE`."""

    def __init__(self) -> None:
        self.found: list[tuple[int, ...]] = []

    def of(self, raws: list[Raw]) -> Column:
        """A row of three for each."""
        places = numbered(self, undecoded(raws))
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


def undecoded(raws: Sequence[Raw]) -> list[bytes]:
    """The texts of values; all at once takes a fifth of the time that `bytes` takes for one after the other."""
    found = b"\0".join(raws).split(b"\0")
    return found if len(found) == len(raws) else list(map(bytes, raws))  # no raws, or a NUL in one of them


def numbered(known: Mapping[Any, int], values: Sequence[Any]) -> Column:
    """The number of each value; the method of a dictionary that has them is several times faster than brackets."""
    return np.fromiter(map(known.__getitem__, values), np.int64, len(values))


def ints(values: Sequence[Any]) -> Column:
    """Whole numbers of 64 bits; what is none is -1."""
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([number(value) for value in values], dtype=np.int64)


def shares(values: Sequence[Any]) -> Column:
    """Percentages as shares of 0..1; what is none is NaN."""
    try:
        found = np.fromiter(values, np.float64, len(values)) / 100
    except (TypeError, ValueError):
        found = np.array([share(value) for value in values])
    return np.where((found >= 0) & (found <= 1), found, np.nan)


def small(found: Column) -> Column:
    """Whole numbers of 15 bits, which fit every narrow column; what is none is -1."""
    return np.where((found >= 0) & (found < 2**15), found, -1)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
