"""Events out of a stream of JSON, a chunk at a time, so that a file larger than memory is read.

A file is an object with a list `traceEvents`, or a list alone, which need not be closed. Chunks are cut between events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import Raw

from ..errors import FileFormatError
from .json_pieces import BLANK, Event, Pieces, mended
from .loose import JUNK, json_object
from .sources import Source

Quick = TypeVar("Quick")
_LIMIT = 2**26  # bytes of metadata, or of one event
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_ENDS = 8  # closing brackets that are tried as that of the list
_TRIED = 2**12  # opening braces that are tried as that of the last event
_NEAR = 256  # bytes of blanks between two events


class JsonEvents(Generic[Event, Quick]):
    """The events of a file, of that type. Once they are read, `metadata` has what stands beside them, undecoded.

    `quick`, where it is given, is asked first for what stands for a run of events; where it has None they are decoded.
    """

    def __init__(
        self, source: Source, kind: type[Event], quick: Callable[[memoryview], Quick | None] = lambda _: None
    ) -> None:
        self.source = source
        self.quick = quick
        self.pieces = Pieces(kind)
        self.metadata: dict[str, Raw] = {}
        self.lost_metadata = False
        self.total_bytes = 0
        self.is_list = self.entered = self.closed = False

    def batches(self) -> Iterator[list[Event] | Quick]:
        """All events, in the order of the file.

        Raises:
            FileFormatError: there is no list of events.
        """
        rest = b""
        for chunk in self.source.chunks():
            self.total_bytes += len(chunk)
            rest += chunk
            if not self.entered:
                rest = self._enter(rest)
            if self.entered and not self.closed:
                events, rest = self._cut(rest)
                yield events
            rest = self._bounded(rest)
        if not self.entered:
            raise FileFormatError(f"{self.source.path.name}: it has no list of events; right would be traceEvents")
        if not self.closed:
            events, rest = self._last(rest.rstrip(BLANK))
            yield events
        if self.closed:
            self._behind(rest)

    def _enter(self, text: bytes) -> bytes:
        """What is left of the text, from the first event on where that is in it."""
        start = text.removeprefix(b"\xef\xbb\xbf").lstrip(BLANK)
        if start[:1] == b"[":
            self.is_list = self.entered = True
            return start[1:]
        found = _LIST.search(start)
        if found is None:
            return start
        self.entered = True
        self._describe(start[: found.start()] + b'"":0}')
        return start[found.end() :]

    def _cut(self, text: bytes) -> tuple[list[Event] | Quick, bytes]:
        """The events that are whole, and the rest."""
        cut, after = self._boundary(text)
        if not cut:
            return [], text
        whole = memoryview(text)[:cut]
        if (quick := self.quick(whole)) is not None:
            return quick, text[after:]
        run = self.pieces.run(whole)
        self.closed = run.closed
        between = text[cut:after] if run.closed or run.left else b""
        return run.events, run.left + between + text[after:]

    @staticmethod
    def _boundary(text: bytes) -> tuple[int, int]:
        """The end of the last event that is followed by another, and the begin of that one; zeros where none is."""
        place = len(text)
        for _ in range(_TRIED):
            place = text.rfind(b"{", 0, place)
            if place <= 0:
                break
            first = max(0, place - _NEAR)
            before = text[first:place].rstrip(BLANK)
            if before.endswith(b",") and before[:-1].rstrip(BLANK).endswith(b"}"):
                return first + len(before) - 1, place
        return 0, 0

    def _bounded(self, rest: bytes) -> bytes:
        """The rest; an event that is larger than any is given up."""
        if len(rest) < _LIMIT:
            return rest
        self.pieces.lose(rest)
        return b""

    def _last(self, text: bytes) -> tuple[list[Event] | Quick, bytes]:
        """The events of the end of the file, and what stands behind them."""
        place = len(text)
        for _ in range(_ENDS):
            place = text.rfind(b"]", 0, place)
            if place < 0:
                break
            tail = text[place + 1 :]
            if tail.endswith(b"}") or (self.is_list and not tail):
                body = text[:place].rstrip(BLANK + b",")
                if (quick := self.quick(memoryview(body))) is not None:
                    self.closed = True
                    return quick, tail
                run = self.pieces.attempt(body)
                run = self.pieces.mixed(body) if run is None else run
                if run is not None:
                    self.closed = True
                    return run, tail
        last = self.pieces.run(text, final=True)
        self.closed = last.closed
        return last.events, last.left

    def _behind(self, text: bytes) -> None:
        """Reads what stands behind the events."""
        text = text.strip(BLANK).removeprefix(b",")
        if b'"ph"' in text or (text and self.is_list):
            self.pieces.lose(text)
        elif not self.is_list:
            self._describe(b"{" + text)

    def _describe(self, text: bytes) -> None:
        """Adds the fields of an object to the metadata."""
        for one in (text, mended(text)):
            try:
                self.metadata |= json_object(one)
            except JUNK:
                continue
            self.pieces.mended += one is not text
            return
        self.lost_metadata = True
