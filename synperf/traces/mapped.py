"""The unpacked bytes of a file that cannot be read from its begin to its end only, without holding them in memory."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile

from .sources import Source


def mapped(source: Source) -> memoryview:
    """All bytes, in a file without a name, which goes with the last view of it; memory holds what is looked at.

    A copy, since a view of the file itself would end the process where somebody cuts the file meanwhile.
    """
    with TemporaryFile() as copy:
        for chunk in source.chunks():
            copy.write(chunk)
        copy.flush()
        return memoryview(mmap(copy.fileno(), 0, access=ACCESS_READ)) if copy.tell() else memoryview(b"")
