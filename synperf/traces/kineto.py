"""Traces of the PyTorch profiler: Kineto's JSON of every age since 2020, plain, gzip or zstd.

Times are decimal µs, since 1970 or since `baseTimeNanoseconds`; each is rounded to whole ns by itself.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import FileFormatError
from .building import Builder
from .events import Caution, Kind, Trace
from .json_events import JsonEvents
from .kineto_batches import Decoded, Scanned, scanned
from .kineto_events import Event
from .kineto_halves import join
from .kineto_host import Host
from .kineto_rows import LATEST_NS, Rows
from .sources import Progress, Source, named

FORMAT = "kineto"
_OBJECT = (b'"traceEvents"', b'"deviceProperties"', b'"distributedInfo"', b'"computeProperties"')
_EVENT = (b'"ph"', b'"ts"', b'"cat"')


def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    """Whether the first bytes, unpacked, are those of such a file."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        return any(key in text for key in _OBJECT)
    return text[:1] == b"[" and all(key in text for key in _EVENT)


def read(path: Path, progress: Progress | None = None, python: bool = False) -> list[Trace]:
    """The one trace of a file; short frames of Python only where `python` asks for them.

    Raises:
        FileFormatError: it holds no list of events, or none of them can be read.
    """
    stream, rows = _events(path, progress, python)
    builder = rows.builder
    lost = join(rows) if rows.halves else 0
    if not len(builder) and stream.pieces.unread:
        raise FileFormatError(f"{path.name}: none of its events can be read; right would be JSON of trace events")
    if not len(builder) and rows.unknown:
        raise FileFormatError(
            f"{path.name}: its events are of another tool, in categories such as {rows.some_unknown()}; right would be"
            " those of torch.profiler, such as kernel and cpu_op"
        )
    host = Host(stream.metadata)
    base_ns = host.base_ns if host.base_ns + builder.latest_ns() <= LATEST_NS else 0
    events = builder.events(base_ns)
    cautions = [*_damage(stream), *host.cautions(base_ns), *_left_out(rows, lost, builder.duplicates)]
    return [
        Trace(
            source=named(path), format=FORMAT, events=events, rank=host.rank, world_size=host.world_size,
            devices=host.devices, host=host.versions, groups=host.groups, cautions=tuple(cautions),
        )
    ]  # fmt: skip


def _events(path: Path, progress: Progress | None, python: bool) -> tuple[JsonEvents[Event, Scanned], Rows]:
    """The events as rows, and the stream that they came from."""
    stream = JsonEvents(Source(path, progress), Event, scanned)
    rows = Rows(Builder(), python)
    for batch in stream.batches():
        rows.add(Decoded(batch) if isinstance(batch, list) else batch)
    return stream, rows


def _damage(stream: JsonEvents[Event, Scanned]) -> list[Caution]:
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
        text = "events, or what stands beside them, had odd characters or values, which were replaced"
        found.append(Caution(text=text, count=pieces.mended))
    if stream.lost_metadata:
        found.append(Caution(text="what stands beside the events cannot be read: no devices, ranks or base time"))
    return found


def _left_out(rows: Rows, lost: int, duplicates: int) -> list[Caution]:
    """What of the events that were read is not in the table."""
    found = [
        *_by_kind(rows.untimed, "without a time set aside"),
        *_by_kind(rows.negative, "with a negative duration set aside"),
        *_by_kind(rows.nameless, "without a name"),
        *_by_kind(rows.placeless, "without a device"),
    ]
    if rows.unknown:
        text = f"events of unknown categories left out: {rows.some_unknown()}"
        found.append(Caution(text=text, count=rows.unknown))
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
