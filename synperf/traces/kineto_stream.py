"""The events of a Kineto file, run by run, and then what is known of the file beside them.

Nothing here needs numpy: `kineto_early` reads while that is still imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .json_events import JsonEvents
from .json_losses import Losses
from .kineto_columns import Columns, ColumnsReader, is_compiled
from .sources import Progress, Source

if TYPE_CHECKING:
    from .json_pieces import Pieces
    from .kineto_events import Event

ROWS = 2**14  # of columns are a run: more take more memory, and fewer more time
CHUNK = 2**18  # bytes, for which the nearest cache of a core has room
_OBJECT = (b'"traceEvents"', b'"deviceProperties"', b'"distributedInfo"', b'"computeProperties"')
_EVENT = (b'"ph"', b'"ts"', b'"cat"')
Run: TypeAlias = "list[Event] | Columns"


class Beside(NamedTuple):
    """What is known of a file once its events are read; counts are of events."""

    texts: list[bytes]  # objects of JSON
    is_whole: bool  # the list of events is closed, or need not be
    cut: str  # how the file is damaged
    unread: int
    unread_bytes: int
    total_bytes: int
    mended: int


def is_of_kineto(head: bytes) -> bool:
    """Whether the first bytes, unpacked, are those of such a file."""
    if is_object(head):
        return any(key in head for key in _OBJECT)
    return _bare(head)[:1] == b"[" and all(key in head for key in _EVENT)


def is_object(head: bytes) -> bool:
    """Whether they are the first bytes of an object of JSON."""
    return _bare(head)[:1] == b"{"


def _bare(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()


def runs(path: Path, progress: Progress | None = None) -> Iterator[Run | Beside]:
    """All events, in the order of the file, and `Beside` at the end.

    Raises:
        FileFormatError: there is no list of events.
    """
    source = Source(path, progress)
    stream = JsonEvents(source, _pieces, ColumnsReader(ROWS) if is_compiled else None, CHUNK)
    yield from stream.batches()
    losses = stream.losses
    yield Beside(
        texts=stream.beside,
        is_whole=stream.closed or stream.is_list,
        cut=source.cut,
        unread=losses.unread,
        unread_bytes=losses.unread_bytes,
        total_bytes=stream.total_bytes,
        mended=losses.mended,
    )


def _pieces(losses: Losses) -> Pieces[Event]:
    from .json_pieces import Pieces  # of most files no event is decoded
    from .kineto_events import Event

    return Pieces(Event, losses)
