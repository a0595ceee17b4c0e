"""The lines of a log, plain, gzip or zstd, however long the log is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..sources import HEAD, Source

_LONGEST = 2**20  # bytes of a line; what is longer is taken apart
_TOLD = 2**13  # letters of a line of a log that are looked at
_COLOURS = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_HOLES = 4  # 1 byte in so many may be zero: a crash leaves holes in a log
_ODD = re.compile("[\ufffd\x00-\x07\x0e-\x1a\x1c-\x1f]")  # what no program prints
_OVERLAP = 2**12  # bytes that a pattern may be long


def is_text(head: bytes) -> bool:
    """Whether they are letters, but for some holes."""
    return bool(head.strip()) and head.count(0) * _HOLES <= len(head)


def contains(pattern: re.Pattern[bytes], head: bytes, path: Path) -> bool:
    """Whether the pattern is anywhere in a text file."""
    if not is_text(head):
        return False
    if pattern.search(head):
        return True
    tail = b""
    for chunk in Source(path).chunks() if len(head) >= HEAD else ():
        text = _COLOURS.sub(b"", tail + chunk)
        if pattern.search(text):
            return True
        tail = text[-_OVERLAP:]
    return False


def lines(source: Source) -> Iterator[str]:
    """Lines of a log without their ends and colours; of very long ones the begin."""
    return (line[:_TOLD] for line in whole_lines(source))


def whole_lines(source: Source) -> Iterator[str]:
    """The same with all of each line."""
    rest = b""
    for chunk in source.chunks():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _clean(source, line)
        if len(rest) > _LONGEST:
            yield _clean(source, rest)
            rest = b""
    if rest:
        yield _clean(source, rest)


def _clean(source: Source, line: bytes) -> str:
    text = _COLOURS.sub(b"", line).decode("utf-8", "replace").rstrip("\r\n")
    source.odd_lines += _ODD.search(text) is not None
    return text
