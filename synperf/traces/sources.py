"""The bytes of a trace file, plain, gzip or zstd, in chunks; the next one is unpacked while the last one is read."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from ..errors import FileFormatError

Progress = Callable[[str, int, int], None]  # (what, bytes done, of all), of the file as it lies on the disk
CHUNK = 2**21
_PACKED = 2**18  # bytes that are read from the disk at once
HEAD = 2**16
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Source:
    """A file and its chunks. `cut` says, once they are read, how the file is damaged, or is empty.

    `odd_lines` counts lines of a log that hold bytes that are no text.

    Raises:
        FileFormatError: it is a pipe or the like, which can be read but once.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.size = _size(path)
        self.cut = ""
        self.odd_lines = 0

    def head(self) -> bytes:
        """The first bytes, unpacked."""
        with self._opened() as file:
            return b"".join(_until(HEAD, self._pieces(file, HEAD)))

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """All bytes, unpacked, about so many at once."""
        with self._opened() as file:
            pieces = self._pieces(file, size)
            for chunk in _ahead(lambda: b"".join(_until(size, pieces))):
                self._tell(file)
                yield chunk

    @contextmanager
    def _opened(self) -> Iterator[BufferedReader]:
        with self.path.open("rb") as file:
            yield file

    def _tell(self, file: BufferedReader) -> None:
        if self.progress is not None:
            self.progress(self.path.name, file.tell(), self.size)

    def _pieces(self, file: BufferedReader, most: int) -> Iterator[bytes]:
        """The bytes as they are unpacked, about `most` at once."""
        magic = file.peek(4)[:4]
        if magic[:2] == _GZIP:
            return self._inflated(file, most)
        if magic == _ZSTD:
            return self._unpacked(_zstd(self.path, file), most)
        return iter(lambda: file.read(min(_PACKED, most)), b"")

    def _inflated(self, file: BinaryIO, most: int) -> Iterator[bytes]:
        """A gzip file, of one or several members."""
        engine: Any = None
        packed = b""
        while packed or (packed := file.read(_PACKED)):
            if engine is None:
                if not (packed := packed.lstrip(b"\0")):  # what fills a file up
                    continue
                engine = zlib.decompressobj(wbits=31)
            try:
                yield engine.decompress(packed, most)
            except zlib.error:
                self.cut = "its packed bytes are damaged"
                return
            packed = engine.unconsumed_tail or engine.unused_data
            engine = None if engine.eof else engine
        if engine is not None:
            self.cut = "it ends early"

    def _unpacked(self, file: Any, most: int) -> Iterator[bytes]:
        """A zstd file."""
        while True:
            try:
                piece = file.read(most)
            except Exception as error:  # each library has its own
                self.cut = "it ends early" if isinstance(error, EOFError) else "its packed bytes are damaged"
                return
            if not piece:
                return
            yield piece


def _size(path: Path) -> int:
    found = path.stat()
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return found.st_size
    raise FileFormatError(f"{path}: it is a pipe or a device, which is read but once; right would be a file on a disk")


def named(path: Path) -> str:
    """The name of a file as text of one line; letters that cannot be printed, and bytes that are none, are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path.name)


def _ahead(make: Callable[[], bytes]) -> Iterator[bytes]:
    """What is made until there is nothing more; the next one is made by a thread while the last one is used."""
    asked: SimpleQueue[bool] = SimpleQueue()
    made: SimpleQueue[bytes | BaseException] = SimpleQueue()

    def work() -> None:
        while asked.get():
            try:
                made.put(make())
            except BaseException as error:  # the one who asked is told
                made.put(error)

    worker = Thread(target=work, daemon=True)
    worker.start()
    try:
        asked.put(True)
        while found := made.get():
            if isinstance(found, BaseException):
                raise found
            asked.put(True)
            yield found
    finally:
        asked.put(False)
        worker.join()


def _until(size: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces until there are that many bytes."""
    done = 0
    while done < size and (piece := next(pieces, None)) is not None:
        done += len(piece)
        yield piece


def _zstd(path: Path, file: BinaryIO) -> Any:
    """A stream of the unpacked bytes, by Python's own module (3.14) or what brings it to Python before."""
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(module).ZstdFile(file)
        except ImportError:
            continue
    raise FileFormatError(
        f"{path.name}: it is packed by zstd, for which Python before 3.14 needs a package: pip install backports.zstd"
    )
