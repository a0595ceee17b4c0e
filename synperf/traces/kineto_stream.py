"""The events of a Kineto file, run by run, and then what is known of the file beside them.

Nothing here needs numpy: `kineto_early` reads while that is still imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .json_events import JsonEvents
from .kineto_columns import Columns, columns
from .kineto_events import Event
from .sources import Progress, Source

Run = list[Event] | Columns
_OBJECT = (b'"traceEvents"', b'"deviceProperties"', b'"distributedInfo"', b'"computeProperties"')
_EVENT = (b'"ph"', b'"ts"', b'"cat"')


class Beside(NamedTuple):
    """What is known of a file once its events are read; counts are of events."""

    metadata: dict[str, bytes]  # JSON
    lost_metadata: bool
    is_whole: bool  # the list of events is closed, or need not be
    cut: str  # how the file is damaged
    unread: int
    unread_bytes: int
    total_bytes: int
    mended: int


def is_of_kineto(head: bytes) -> bool:
    """Whether the first bytes, unpacked, are those of such a file."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        return any(key in text for key in _OBJECT)
    return text[:1] == b"[" and all(key in text for key in _EVENT)


def runs(path: Path, progress: Progress | None = None) -> Iterator[Run | Beside]:
    """All events, in the order of the file, and `Beside` at the end.

    Raises:
        FileFormatError: there is no list of events.
    """
    stream = JsonEvents(Source(path, progress), Event, columns)
    yield from stream.batches()
    pieces = stream.pieces
    yield Beside(
        metadata={key: bytes(value) for key, value in stream.metadata.items()},
        lost_metadata=stream.lost_metadata,
        is_whole=stream.closed or stream.is_list,
        cut=stream.source.cut,
        unread=pieces.unread,
        unread_bytes=pieces.unread_bytes,
        total_bytes=stream.total_bytes,
        mended=pieces.mended,
    )
