"""Events out of a stream of JSON, a chunk at a time, so that a file larger than memory is read.

A file is an object with a list `traceEvents`, or a list alone, which need not be closed. Chunks are cut between events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ..errors import FileFormatError
from .json_losses import BLANK, Losses
from .sources import CHUNK, Source

if TYPE_CHECKING:
    from msgspec import Struct

    from .json_pieces import Pieces  # with what decodes, which is imported where there is something to decode

Event = TypeVar("Event", bound="Struct")
Quick = TypeVar("Quick", covariant=True)
_LIMIT = 2**26  # bytes of metadata, or of one event
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_ANOTHER = re.compile(rb"\s*,\s*\{")
_ENDS = 8  # closing brackets that are tried as that of the list
_TRIED = 2**12  # opening braces that are tried as that of the last event
_NEAR = 256  # bytes of blanks between two events


def begins_later(source: Source) -> bool:
    """Whether a list of events begins within as much of a file as may stand before it."""
    last, done = b"", 0
    for chunk in source.chunks():
        if _LIST.search(last + chunk):
            return True
        last, done = chunk[-_NEAR:], done + len(chunk)
        if done >= _LIMIT:
            break
    return False


class QuickReader(Protocol[Quick]):
    """Makes something else of runs of events than objects, sooner."""

    def add(self, text: bytes) -> tuple[int, bool] | None:
        """Takes whole events: bytes that are done, and whether the list is closed; None of what is to be decoded."""

    def full(self) -> Iterator[Quick]:
        """What is made of the events so far, if they are enough."""

    def rest(self) -> Iterator[Quick]:
        """What is made of the events so far, if there are any."""


class JsonEvents(Generic[Event, Quick]):
    """The events of a file, decoded by `Pieces`. Once they are read, `beside` has the objects that stand beside them.

    `quick`, where it is given, is asked first to take a run of events; where it does not they are decoded. Chunks of
    that many bytes are read.
    """

    def __init__(
        self,
        source: Source,
        pieces: Callable[[Losses], Pieces[Event]],
        quick: QuickReader[Quick] | None = None,
        chunk: int = CHUNK,
    ) -> None:
        self.source = source
        self.losses = Losses()
        self._pieces = pieces
        self.quick = quick
        self.chunk = chunk
        self.beside: list[bytes] = []
        self.total_bytes = self._left = 0  # of what was read, and of that what could not be used yet
        self.is_list = self.entered = self.closed = False

    @cached_property
    def pieces(self) -> Pieces[Event]:
        """What decodes events."""
        return self._pieces(self.losses)

    def batches(self) -> Iterator[list[Event] | Quick]:
        """All events, in the order of the file.

        Raises:
            FileFormatError: there is no list of events.
        """
        rest = b""
        for text in self._texts():
            rest = b"".join((rest, text))
            if not self.entered:
                rest = self._enter(rest)
            rest = self._reopened(rest)
            if self.entered and not self.closed:
                rest = yield from self._cut_on(rest)
            self._left = len(rest := self._bounded(rest))
        if not self.entered:
            raise FileFormatError(f"{self.source.path.name}: it has no list of events; right would be traceEvents")
        if not self.closed:
            rest = yield from self._last(rest.rstrip(BLANK))
        if self.closed:
            self._behind(rest)

    def _reopened(self, rest: bytes) -> bytes:
        """The rest; where another event is behind what seemed to be the end of the list, that was none."""
        if self.closed and (found := _ANOTHER.match(rest)):
            self.closed = False
            self.pieces.lose(b"]")
            return rest[found.end() - 1 :]
        return rest

    def _texts(self) -> Iterator[bytes]:
        """Chunks, several at once where more than one is left: else what is long would be gone through for each."""
        chunks: list[bytes] = []
        for chunk in self.source.chunks(self.chunk):
            self.total_bytes += len(chunk)
            chunks.append(chunk)
            if len(chunks) * self.chunk >= self._left:
                yield b"".join(chunks)
                chunks.clear()
        if chunks:
            yield b"".join(chunks)

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
        self.beside.append(start[: found.start()] + b'"":0}')
        return start[found.end() :]

    def _cut_on(self, rest: bytes) -> Generator[list[Event] | Quick, None, bytes]:
        """The same, also behind what only seems to be the end of the list."""
        while True:
            rest = yield from self._cut(rest)
            if (again := self._reopened(rest)) is rest:
                return rest
            rest = again

    def _cut(self, text: bytes) -> Generator[list[Event] | Quick, None, bytes]:
        """The events that are whole; returns the rest."""
        if self.quick is not None and (found := self.quick.add(text)) is not None:
            done, self.closed = found
            yield from self.quick.rest() if self.closed else self.quick.full()
            return text[done:]
        cut, after = self._boundary(text)
        if not cut:
            return text
        run = self.pieces.run(memoryview(text)[:cut])
        self.closed = run.closed
        between = text[cut:after] if run.closed or run.left else b""
        yield from self._behind_quick(run.events)
        return run.left + between + text[after:]

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

    def _last(self, text: bytes) -> Generator[list[Event] | Quick, None, bytes]:
        """The events of the end of the file; returns what stands behind them."""
        if self.quick is not None and (found := self.quick.add(text)) is not None:
            done, self.closed = found
            text = text[done:]
            unclosed = None if self.closed else self.quick.add(text.rstrip(BLANK + b",") + b"]")
            yield from self.quick.rest()
            if self.closed:
                return text
            if unclosed is not None and unclosed[1]:
                return b""
        place = len(text)
        for _ in range(_ENDS):
            place = text.rfind(b"]", 0, place)
            if place < 0:
                break
            tail = text[place + 1 :]
            if tail.endswith(b"}") or (self.is_list and not tail):
                body = text[:place].rstrip(BLANK + b",")
                run = self.pieces.attempt(body)
                run = self.pieces.mixed(body) if run is None else run
                if run is not None:
                    self.closed = True
                    yield from self._behind_quick(run)
                    return tail
        last = self.pieces.run(text, final=True)
        self.closed = last.closed
        yield from self._behind_quick(last.events)
        return last.left

    def _behind_quick(self, events: list[Event]) -> Iterator[list[Event] | Quick]:
        """Events that were decoded, behind those before them that were not."""
        if self.quick is not None:
            yield from self.quick.rest()
        yield events

    def _behind(self, text: bytes) -> None:
        """Reads what stands behind the events."""
        text = text.strip(BLANK).removeprefix(b",")
        if (text and self.is_list) or (b'"ph"' in text and not _are_fields(text)):
            self.pieces.lose(text)
        elif not self.is_list:
            self.beside.append(b"{" + text)


def _are_fields(text: bytes) -> bool:
    """Whether events stand in other fields of the object."""
    from .loose import is_object  # with what decodes: few files have such

    return is_object(b"{" + text)
