"""Arguments of Kineto's events as rows of the side tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from .building import Builder, Texts
from .events import Column, Kind
from .kineto_batches import Batch
from .loose import share

_NO_TRIPLE = (-1, -1, -1)
_RECORDS = ("record_param_comms", "nccl:")  # how names begin of operators that say what a collective moved


class Sides:
    """Fills the side tables of a builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._raw = _RawTexts(builder.texts)
        self._words = _Words(builder.texts)
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

    def add(self, kind: Kind, place: Column, events: Batch) -> None:
        """Appends what events of one kind have beside the columns of the table."""
        if kind in self._adders:
            self._adders[kind](place, events)
        if kind in (Kind.KERNEL, Kind.OPERATOR, Kind.ANNOTATION) and (told := events.has("collective")).any():
            rows = np.flatnonzero(told)
            self._messages(kind, place[rows], events.taken(rows))

    def _geometry(self, place: Column, events: Batch) -> None:
        has = np.flatnonzero(events.has("registers") | events.has("grid"))
        chosen = events.taken(has)
        self.builder.add_side(
            "geometry",
            place[has],
            grid=self._triples.of(chosen, "grid"),
            block=self._triples.of(chosen, "block"),
            registers=small(chosen.whole("registers")),
            shared_bytes=chosen.whole("shared_bytes"),
            occupancy=shares([
                new if new is not None else old
                for new, old in zip(chosen.values("occupancy"), chosen.values("occupancy_old"), strict=True)
            ]),
        )  # fmt: skip

    def _moved(self, place: Column, events: Batch) -> None:
        moved = events.whole("bytes")
        self.builder.add_side("moved", place[moved >= 0], bytes=moved[moved >= 0])

    def _arguments(self, place: Column, events: Batch) -> None:
        new = events.has("dims")
        has = np.flatnonzero(new | events.has("dims_old"))
        chosen = events.taken(has)
        dims = chosen.numbered("dims", self._raw)
        if not new[has].all():
            dims = np.where(new[has], dims, chosen.numbered("dims_old", self._raw))
        self.builder.add_side(
            "arguments",
            place[has],
            dims=dims,
            **{name: chosen.numbered(name, self._raw) for name in ("types", "strides", "values")},
        )

    def _messages(self, kind: Kind, place: Column, events: Batch) -> None:
        """What collectives moved; only some operators say so, of others it is that of a kernel which they launched."""
        says = np.array([bool(name) for name in events.values("collective")], dtype=bool)
        if kind != Kind.KERNEL:
            says &= np.array([name.startswith(_RECORDS) for name in events.values("name")], dtype=bool)
        rows = np.flatnonzero(says)
        told, texts = events.taken(rows), self._words
        self.builder.add_side(
            "messages",
            place[rows],
            collective=told.numbered("collective", texts),
            dtype=told.numbered("dtype", texts),
            in_elements=told.whole("in_elements"),
            out_elements=told.whole("out_elements"),
            group_size=small(told.whole("group_size")),
            group=told.numbered("group", texts),
            ranks=told.numbered("ranks", self._raw),
        )

    def _allocations(self, place: Column, events: Batch) -> None:
        self.builder.add_side(
            "allocations",
            place,
            bytes=events.whole("changed_bytes"),
            address=events.whole("address"),
            device_type=small(events.whole("memory_type")),
            device=small(events.whole("memory_device")),
            allocated_bytes=events.whole("allocated_bytes"),
            reserved_bytes=events.whole("reserved_bytes"),
        )

    def _frames(self, place: Column, events: Batch) -> None:
        self.builder.add_side("frames", place, frame=events.whole("frame"), parent=events.whole("parent"))


class _Words(dict[Any, int]):
    """Ids of the texts of values."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __missing__(self, value: Any) -> int:
        self[value] = found = self.texts["" if value is None else str(value)]
        return found


class _RawTexts(dict[bytes, int]):
    """Ids of undecoded texts."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self[b""] = texts[""]  # which is 0

    def __missing__(self, raw: bytes) -> int:
        self[raw] = found = self.texts[raw.decode("utf-8", "replace")]
        return found


class _Triples(dict[bytes, int]):
    """Places in a list of undecoded lists of three numbers; what is none is `_NO_TRIPLE`."""

    def __init__(self) -> None:
        self.found: list[tuple[int, ...]] = []

    def of(self, events: Batch, name: str) -> Column:
        """A row of three for each."""
        places = events.numbered(name, self)
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
