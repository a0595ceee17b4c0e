"""Traces kept as columns in a folder, so that a file that has not changed is not parsed again.

A source has one file there: a mark, a head that says what it was made of, and the bytes of the columns. It is there
whole or not at all; one of another path, size, time of change or version is read anew, and so is one that is damaged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import msgspec
import numpy as np

from ..errors import FieldError
from ..tables import outfile
from ..version import VERSION
from . import read_trace
from .events import SIDES, Caution, Column, Device, Events, Trace
from .sources import Progress

_MARK = b"synperf trace\n\0\0"
_SUMMED = struct.Struct(f"<{len(_MARK)}sQI36x")  # mark, bytes of the head, CRC-32 of the head and all behind it
_LAYOUT = 1  # goes up when the bytes below, or what readers make of a file, are others
_ALIGNED = _SUMMED.size  # columns begin at a multiple of so many bytes
_MAIN = ""  # the table that is no side table


class _Stamp(msgspec.Struct, frozen=True):
    """What traces were made of."""

    path: str
    size: int
    changed_ns: int
    version: str = f"{VERSION} {_LAYOUT}"


class _Place(msgspec.Struct, frozen=True):
    """Where a column is, in bytes behind the head."""

    table: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int


class _Said(msgspec.Struct):
    """A trace but for its columns."""

    source: str
    format: str
    rank: int | None
    world_size: int | None
    devices: tuple[Device, ...]
    host: dict[str, str]
    groups: dict[str, tuple[int, ...]]
    cautions: tuple[Caution, ...]


class _Kept(msgspec.Struct):
    said: _Said
    names: tuple[str, ...]
    places: list[_Place]


class _Head(msgspec.Struct):
    stamp: _Stamp
    traces: list[_Kept]


def check_folder(folder: Path) -> None:
    """Checks, before work that it is to keep, that it is a folder, or can be made one.

    Raises:
        FieldError: it is none, or takes no files.
    """
    if folder.exists() and not folder.is_dir():
        raise FieldError(f"cache: {str(folder)!r} is no folder; right would be one, or a name for a new one")
    outfile.require_place("cache", folder / "place" if folder.exists() else folder)


def read_kept(path: Path, folder: Path, progress: Progress | None = None) -> list[Trace]:
    """The traces of a file: those that the folder keeps, or else read and then kept there.

    Raises:
        FieldError: nothing can be written into the folder.
        FileFormatError: as `read_trace`.
    """
    if path.is_dir():
        return read_trace(path)
    from hashlib import sha256  # slow to import, and no other read needs it

    stamp = _stamp(path)
    place = folder / f"{sha256(stamp.path.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.trace"
    kept = _load(place, stamp)
    if kept is None:
        kept = read_trace(path, progress=progress)
        if _stamp(path) == stamp:  # it did not change while it was read
            folder.mkdir(exist_ok=True)
            with outfile.replacing("cache", place) as part, part.open("wb") as file:
                _store(file, stamp, kept)
    return kept


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return _Stamp(path=str(path.resolve()), size=found.st_size, changed_ns=found.st_mtime_ns)


def _store(file: BinaryIO, stamp: _Stamp, traces: list[Trace]) -> None:
    end, kept = 0, []
    for trace in traces:
        places = []
        for table, name, column in _columns(trace.events):
            places.append(_Place(table, name, column.dtype.str, column.shape, end))
            end += _padded(column.nbytes)
        said = _Said(**{name: getattr(trace, name) for name in _Said.__struct_fields__})
        kept.append(_Kept(said, trace.events.names, places))
    head = msgspec.msgpack.encode(_Head(stamp, kept))
    crc = 0
    file.seek(_ALIGNED)
    for piece in _pieces(head, traces):
        crc = crc32(piece, crc)
        file.write(piece)
    file.seek(0)
    file.write(_SUMMED.pack(_MARK, len(head), crc))


def _pieces(head: bytes, traces: list[Trace]) -> Iterator[bytes | memoryview]:
    """What stands behind the first bytes."""
    yield head.ljust(_padded(len(head)), b"\0")
    for trace in traces:
        for _, _, column in _columns(trace.events):
            yield np.ascontiguousarray(column).reshape(-1).view(np.uint8).data
            yield bytes(_padded(column.nbytes) - column.nbytes)


def _load(place: Path, stamp: _Stamp) -> list[Trace] | None:
    """The traces of that stamp; None where the file is not there, of another stamp, or damaged."""
    try:
        data = np.fromfile(place, dtype=np.uint8)
    except OSError:
        return None
    if len(data) < _ALIGNED:
        return None
    mark, length, crc = _SUMMED.unpack(data[:_ALIGNED].data)
    if mark != _MARK or crc != crc32(data[_ALIGNED:].data):
        return None
    try:
        head = msgspec.msgpack.decode(data[_ALIGNED : _ALIGNED + length].data, type=_Head)
    except msgspec.MsgspecError:  # of another layout
        return None
    columns = data[_ALIGNED + _padded(length) :]
    return [_trace(one, columns) for one in head.traces] if head.stamp == stamp else None


def _trace(kept: _Kept, data: Column) -> Trace:
    tables: dict[str, dict[str, Any]] = {table: {} for table in (_MAIN, *SIDES)}
    for place in kept.places:
        dtype = np.dtype(place.dtype)
        end = place.begin + dtype.itemsize * int(np.prod(place.shape))
        tables[place.table][place.name] = data[place.begin : end].view(dtype).reshape(place.shape)
    sides = {name: table(**tables[name]) for name, table in SIDES.items()}
    events = Events(names=kept.names, **tables[_MAIN], **sides)
    said = {name: getattr(kept.said, name) for name in _Said.__struct_fields__}
    return Trace(events=events, **said)


def _columns(events: Events) -> Iterator[tuple[str, str, Column]]:
    """Table, name and values of every column, the same ones each time."""
    for table, rows in ((_MAIN, events), *((side, getattr(events, side)) for side in SIDES)):
        for column in fields(rows):
            if "dtype" in column.metadata:
                yield table, column.name, getattr(rows, column.name)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
