"""What a file looks like that no reader knows."""

from __future__ import annotations

_SIGNS = (
    (b"SQLite format 3\0", "is an SQLite database"),
    (b"PK\x03\x04", "is a zip archive"),
    (b"\x89HDF", "is an HDF5 file"),
    (b"PAR1", "is a parquet file"),
    (b"\x7fELF", "is a program"),
    (b"<", "is HTML or XML"),
)
_KEYS = (
    (b'"rocprofiler-sdk-tool"', "is JSON of rocprofv3, which holds other records"),
    (b'"nodes"', "is an execution trace, which has no times of the GPU"),
)


def describe(head: bytes) -> str:
    """A clause about a file with these first bytes: `is empty`, `is JSON without trace events`."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return "is empty"
    for sign, clause in _SIGNS:
        if text.startswith(sign):
            return clause
    if text[:1] in (b"{", b"["):
        return next((clause for key, clause in _KEYS if key in text), "is JSON without trace events")
    return "is binary data" if b"\0" in text else "is text of no known form"
