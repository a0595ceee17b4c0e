"""Traces of the PyTorch profiler: Kineto's JSON of every age since 2020, plain, gzip or zstd.

Times are decimal µs, since 1970 or since `baseTimeNanoseconds`; each is rounded to whole ns by itself.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import FileFormatError
from .building import Builder
from .events import Caution, Kind, Trace
from .json_events import JsonEvents
from .kineto_events import Event
from .kineto_halves import join
from .kineto_host import Host
from .kineto_rows import LATEST_NS, Rows
from .sources import Progress, Source

FORMAT = "kineto"
_OBJECT = (b'"traceEvents"', b'"deviceProperties"', b'"distributedInfo"', b'"computeProperties"')
_EVENT = (b'"ph"', b'"ts"')


def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    """Whether the first bytes, unpacked, are those of such a file."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        return any(key in text for key in _OBJECT)
    return text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"]") and all(key in text for key in _EVENT)


def read(path: Path, progress: Progress | None = None, python: bool = False) -> list[Trace]:
    """The one trace of a file; short frames of Python only where `python` asks for them.

    Raises:
        FileFormatError: it holds no list of events, or none of them can be read.
    """
    source = Source(path, progress)
    stream = JsonEvents(source, Event)
    builder = Builder()
    rows = Rows(builder, python)
    for batch in stream.batches():
        rows.add(batch)
    lost = join(rows) if rows.halves else 0
    if not len(builder) and stream.pieces.unread:
        raise FileFormatError(f"{path.name}: none of its events can be read; right would be JSON of trace events")
    host = Host(stream.metadata)
    base_ns = host.base_ns if host.base_ns + builder.latest_ns() <= LATEST_NS else 0
    events = builder.events(base_ns)
    cautions = [*_damage(stream), *host.cautions(base_ns), *_left_out(rows, lost, builder.duplicates)]
    return [
        Trace(
            source=path.name, format=FORMAT, events=events, rank=host.rank, world_size=host.world_size,
            devices=host.devices, host=host.versions, groups=host.groups, cautions=tuple(cautions),
        )
    ]  # fmt: skip


def _damage(stream: JsonEvents[Event]) -> list[Caution]:
    """What is wrong with the text of the file."""
    pieces = stream.pieces
    found = []
    if stream.source.cut:
        found.append(Caution(text=f"the file is damaged: {stream.source.cut}; what comes after is not known"))
    elif not stream.closed and not stream.is_list:
        found.append(Caution(text="the file ends before its list of events does; what comes after is not known"))
    if pieces.unread:
        share = pieces.unread_bytes / max(stream.total_bytes, 1)
        found.append(Caution(text="events cannot be read; the share is of the file", count=pieces.unread, share=share))
    if pieces.mended:
        found.append(Caution(text="events had odd characters or values, which were replaced", count=pieces.mended))
    if stream.lost_metadata:
        found.append(Caution(text="what stands beside the events cannot be read: no devices, ranks or base time"))
    return found


def _left_out(rows: Rows, lost: int, duplicates: int) -> list[Caution]:
    """What of the events that were read is not in the table."""
    found = [
        *_by_kind(rows.untimed, "without a time set aside"),
        *_by_kind(rows.negative, "with a negative duration set aside"),
        *_by_kind(rows.nameless, "without a name"),
    ]
    if rows.unknown:
        shown = ", ".join(sorted(rows.kinds.unknown)[:5])
        found.append(Caution(text=f"events of unknown categories left out: {shown}", count=rows.unknown))
    if lost:
        found.append(Caution(text="begins or ends of events without the other half left out", count=lost))
    if duplicates:
        found.append(Caution(text="copies of events that were there twice left out", count=duplicates))
    return found


def _by_kind(counts: dict[Kind, int], what: str) -> list[Caution]:
    return [
        Caution(text=f"{kind.name.lower()} events {what}", count=count)
        for kind, count in sorted(counts.items())
        if count
    ]
