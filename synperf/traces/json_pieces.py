"""A run of events as JSON text, decoded at once; where it is no valid list, taken apart event by event.

Reasons are damaged text, odd types, the end of the list, and a cut inside an event that holds a list of objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from .json_losses import BLANK, Losses
from .loose import JUNK, is_object, struct_of

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]]', re.S)
_DEPTH = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
_BEHIND = re.compile(rb'\s*(?:\Z|\}|,\s*["{])')  # the end of a list, or a bracket too much
_COMMA = re.compile(rb"\s*,?\s*")
_BETWEEN = re.compile(rb"\}\s*,\s*(?=\{)")
_LAST = re.compile(rb"\}\s*\]")
_JOINED = 64  # pieces that may be one event
_ENDS = 64  # closing brackets that may be that of the list
_MANY = 100  # pieces that cannot be read, from which on none are joined: the file is damaged all over
_BLANKS = bytes(c if c not in BLANK else 32 for c in range(256))
_CONTROLS = bytes(c if c >= 32 else 32 for c in range(256))
_NO_NUMBER = re.compile(rb"([:\[,]\s*)-?(?:NaN|Infinity|nan|inf)\b")
_SURROGATES = re.compile(  # a pair of them, or one alone; behind an escaped backslash there is none
    rb"((?<!\\)(?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_SIGN = b'"ph"'  # that an event has once
_PAIR = len(rb"\ud83d\ude00")
_undecoded = msgspec.json.Decoder(list[Raw]).decode
Event = TypeVar("Event", bound=msgspec.Struct)


class Run(NamedTuple, Generic[Event]):
    """Events, and what is left of the text: the begin of an event, or where `closed` what stands behind the list."""

    events: list[Event]
    left: bytes = b""
    closed: bool = False


class Pieces(Generic[Event]):
    """Decodes runs of events of that type, and counts what it cannot read among the losses."""

    def __init__(self, kind: type[Event], losses: Losses) -> None:
        self.losses = losses
        self._many: Callable[[bytes], list[Event]] = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._one: Callable[[bytes | Raw], Event] = msgspec.json.Decoder(kind).decode
        self._loose: Callable[[bytes | Raw], Event] = partial(struct_of, kind)

    def lose(self, text: bytes | Raw) -> None:
        self.losses.unread += 1
        self.losses.unread_bytes += len(bytes(text))

    def attempt(self, text: bytes | memoryview) -> list[Event] | None:
        """The events of a text between two brackets of a list, or None where it is no valid one."""
        whole = b"".join((b"[", text, b"]"))
        try:
            return self._many(whole)
        except JUNK:
            return self._each(whole)

    def _each(self, text: bytes) -> list[Event] | None:
        """The events of a list, some of odd types; None where it is no valid list, or not all of them are events."""
        before = self.losses.mended
        try:
            parts = list(map(bytes, _undecoded(text)))
        except JUNK:
            return None
        if not all(part.startswith(b"{") for part in parts):
            return None
        found = list(map(self._event, parts))
        events = [one for one in found if one is not None]
        if len(events) == len(found):
            return events
        self.losses.mended = before
        return None

    def run(self, text: bytes | memoryview, final: bool = False) -> Run[Event]:
        """The events of a text that is cut between events; nothing follows the one that is `final`."""
        events = self.attempt(text)
        if events is not None:
            return Run(events)
        text = bytes(text).strip(BLANK + b",")
        return self._whole(text, final) or self._apart(text, final)

    def _whole(self, text: bytes, final: bool) -> Run[Event] | None:
        """The events, where each object is one or lost; what is left is one that is cut off, or what is behind them.

        None where some of it is anything else, or of several events: then braces may be missing, and say nothing.
        """
        spans, left, closed = _objects(text)
        if closed and not _BEHIND.match(text, left):
            return None
        if not closed and (text.count(_SIGN, left) > 1 or (final and text[left:].strip(BLANK + b","))):
            return None
        if any(text.count(_SIGN, begin, end) > 1 for begin, end in spans):
            return None
        found = [(begin, end, self._event(text[begin:end])) for begin, end in spans]
        events = [event for _, _, event in found if event is not None]
        for begin, end, event in found:
            if event is None:
                self.lose(text[begin:end])
        is_cut = not final and text.startswith(b"{", left)
        return Run(events, text[left:], closed) if events or is_cut else None

    def _apart(self, text: bytes, final: bool) -> Run[Event]:
        spans = _spans(text)
        events: list[Event] = []
        index = 0
        while index < len(spans):
            begin, end = spans[index]
            event, after = self._joined(text, spans, index)
            if event is None and (closing := self._closing(text, begin, end)):
                return Run([*events, closing[0]], text[closing[1] :], closed=True)
            if event is None and after > len(spans) and not final:
                return Run(events, text[begin:])
            events += self._among(text[begin:end]) if event is None else [event]
            index = index + 1 if event is None else after
        return Run(events)

    def _joined(self, text: bytes, spans: list[tuple[int, int]], index: int) -> tuple[Event | None, int]:
        """The event that begins with a piece, and the piece after it; past the end where the text ends within it."""
        begin, joined = spans[index][0], _JOINED if self.losses.unread < _MANY else 1
        for last in range(index, min(index + joined, len(spans))):
            piece = text[begin : spans[last][1]]
            event = self._event(piece)
            if event is not None:
                return event, last + 1
            if piece.count(b"{") <= piece.count(b"}"):
                return None, index
        return None, index if index + joined < len(spans) else len(spans) + 1

    def _among(self, piece: bytes) -> list[Event]:
        """The events of a piece that is none, but may hold some beside what else there is."""
        found = self.mixed(piece)
        if found is None:
            self.lose(piece)
        return found or []

    def mixed(self, text: bytes) -> list[Event] | None:
        """The events between two brackets of a list that holds other things too, which are lost; None if it is none."""
        try:
            parts = _undecoded(b"[" + text + b"]")
        except JUNK:
            return None
        found = [(part, self._event(text) if (text := bytes(part)).startswith(b"{") else None) for part in parts]
        for part, event in found:
            if event is None:
                self.lose(part)
        return [event for _, event in found if event is not None]

    def _closing(self, text: bytes, begin: int, end: int) -> tuple[Event, int] | None:
        """The last event of the list and the place behind the list, if it ends in this piece."""
        for found in islice(_LAST.finditer(text, max(begin, text.rfind(b'"ph"')), end), _ENDS):
            event = self._event(text[begin : found.start() + 1])
            if event is not None:
                return event, found.end()
        return None

    def _event(self, piece: bytes) -> Event | None:
        try:
            return self._one(piece)
        except JUNK:
            text = mended(piece)
        for read in (self._one, self._loose):
            try:
                event = read(text)
            except JUNK:
                continue
            is_odd = read is self._loose or text != piece.translate(_BLANKS) or not is_object(piece)
            self.losses.mended += is_odd
            return event
        return None


def mended(text: bytes) -> bytes:
    """The text with odd bytes and half letters replaced, control characters blank, and null for what is no number."""
    clean = text.decode("utf-8", "replace").encode().translate(_CONTROLS)
    return _SURROGATES.sub(_whole, _NO_NUMBER.sub(rb"\1null", clean))


def _whole(found: re.Match[bytes]) -> bytes:
    """A letter that two escapes stand for, or the sign of an unknown one."""
    before, letter = found.groups()
    return before + (letter if len(letter) == _PAIR else rb"\ufffd")


def _objects(text: bytes) -> tuple[list[tuple[int, int]], int, bool]:
    """The places of objects with commas between them, where the rest begins, and whether that is behind a list."""
    found: list[tuple[int, int]] = []
    depth, begin, after = 0, 0, 0
    for token in _TOKEN.finditer(text):
        change = _DEPTH.get(text[token.start()], 0)
        if depth == 0:
            between = _COMMA.fullmatch(text, after, token.start())
            if between is None or change != 1:
                is_end = between is not None and text[token.start()] == ord("]")
                return found, token.end() if is_end else after, is_end
            begin = token.start()
        depth += change
        if depth == 0:
            found.append((begin, after := token.end()))
    return found, begin if depth else after, False


def _spans(text: bytes) -> list[tuple[int, int]]:
    """The places of pieces between a closing brace, a comma and an opening brace."""
    cuts = [(found.start() + 1, found.end()) for found in _BETWEEN.finditer(text)]
    begins = [0, *(after for _, after in cuts)]
    return list(zip(begins, [*(end for end, _ in cuts), len(text)], strict=True)) if text else []
