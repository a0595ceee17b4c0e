"""Timelines of Horovod: what became of each tensor, from the negotiation of the ranks to the result, on the host.

A tensor is a thread of the table, and each phase (`NEGOTIATE_ALLREDUCE`, `ALLREDUCE`, `NCCL_ALLREDUCE`, ...) a range
that is named by it; marks within a negotiation say which rank was ready. Times are whole µs from the begin of the
timeline, whose time of day newer ones say. Source: horovod/common/timeline.cc.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Never

import msgspec
from msgspec import Raw

from ..errors import FileFormatError
from .building import Builder
from .decimals import NONE, scaled
from .events import Caution, Kind, Trace
from .json_events import JsonEvents
from .json_pieces import Pieces
from .kineto_events import NOTHING, Value
from .loose import JUNK
from .sources import Progress, Source, named

FORMAT = "horovod"
_MARKS = (b'"NEGOTIATE_', b'"start_time_since_epoch_in_micros"', b'"process_sort_index"', b'"CYCLE_START"')
_PLACES = 3  # from µs to ns


class Event(msgspec.Struct, gc=False):
    """A begin, an end, a mark or a description."""

    ph: str = ""
    name: str = ""
    pid: Value = None
    ts: Raw = NOTHING
    args: Raw = NOTHING


def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    """Whether the first bytes, unpacked, are those of such a timeline, whose events have no categories."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"[" and b'"ph"' in text and b'"cat"' not in text and any(mark in text for mark in _MARKS)


def read(path: Path, progress: Progress | None = None) -> list[Trace]:
    """The one trace of a file.

    Raises:
        FileFormatError: no event of it can be read.
    """
    stream: JsonEvents[Event, Never] = JsonEvents(Source(path, progress), partial(Pieces, Event))
    timeline = _Timeline()
    for batch in stream.batches():
        for event, time_ns in zip(
            batch, scaled([bytes(one.ts) or b"x" for one in batch], _PLACES).tolist(), strict=True
        ):
            timeline.add(event, time_ns)
        timeline.flush()
    if not len(timeline.builder):
        raise FileFormatError(f"{path.name}: no event of this Horovod timeline can be read")
    cautions = tuple(_cautions(stream, timeline))
    events = timeline.builder.events(timeline.base_ns)
    return [Trace(source=named(path), format=FORMAT, events=events, cautions=cautions)]


class _Timeline:
    """Joins begins and ends of each tensor: phases of one are nested."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.base_ns = self.odd = 0
        self.rows: list[tuple[int, int, int, int, int]] = []  # kind, name, start, duration, thread
        self.open: dict[object, list[tuple[str, int]]] = defaultdict(list)
        self.tensors: dict[object, str] = {}

    def add(self, event: Event, time_ns: int) -> None:
        if event.ph == "M":
            self._describe(event)
        elif time_ns == NONE:
            self.odd += 1
        elif event.ph == "B":
            self.open[event.pid].append((event.name, time_ns))
        elif event.ph == "E":
            self._end(event.pid, time_ns)
        elif event.ph == "X":
            self._row(event.pid, f"rank {event.name} ready" if event.name.isdecimal() else event.name, time_ns)
        else:
            self._row(event.pid, event.name, time_ns)

    def _describe(self, event: Event) -> None:
        try:
            said: dict[str, Any] = msgspec.json.decode(event.args, type=dict)
        except JUNK:
            return
        if event.name == "process_name" and isinstance(said.get("name"), str):
            self.tensors[event.pid] = said["name"]
        began = said.get("start_time_since_epoch_in_micros")
        if isinstance(began, int) and 0 < began < 2**52:
            self.base_ns = began * 1000

    def _end(self, tensor: object, time_ns: int) -> None:
        if not self.open[tensor] or self.open[tensor][-1][1] > time_ns:
            self.odd += 1
            return
        name, start_ns = self.open[tensor].pop()
        self._row(tensor, name, start_ns, time_ns)

    def _row(self, tensor: object, name: str, start_ns: int, end_ns: int | None = None) -> None:
        """A range, or a mark where there is no end."""
        text = self.builder.texts[f"{name} {self.tensors.get(tensor, '')}".rstrip()]
        kind, dur_ns = (Kind.MARK, 0) if end_ns is None else (Kind.ANNOTATION, end_ns - start_ns)
        self.rows.append(
            (kind, text, start_ns, dur_ns, tensor if isinstance(tensor, int) and abs(tensor) < 2**62 else -1)
        )

    def flush(self) -> None:
        """Moves the rows that there are into the table."""
        if self.rows:
            kind, name, start_ns, dur_ns, thread = zip(*self.rows, strict=True)
            self.builder.add(len(kind), kind=kind, name=name, start_ns=start_ns, dur_ns=dur_ns, thread=thread)
            self.rows.clear()


def _cautions(stream: JsonEvents[Event, Never], timeline: _Timeline) -> Iterator[Caution]:
    if stream.source.cut:
        yield Caution(text=f"the file is damaged: {stream.source.cut}; what comes after is not known")
    if unread := stream.losses.unread:
        share = stream.losses.unread_bytes / max(stream.total_bytes, 1)
        yield Caution(text="events cannot be read; the share is of the file", count=unread, share=share)
    left = timeline.odd + sum(map(len, timeline.open.values()))
    if left:
        yield Caution(text="begins or ends of phases without the other half, or without a time, left out", count=left)
