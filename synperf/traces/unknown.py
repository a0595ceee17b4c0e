"""What a file looks like that no reader knows."""

from __future__ import annotations

import re
from pathlib import Path

from .sources import Source

_SIGNS = (
    (b"SQLite format 3\0", "is an SQLite database"),
    (b"PK\x03\x04", "is a zip archive"),
    (b"\x89HDF", "is an HDF5 file"),
    (b"\x89PNG", "is a picture"),
    (b"PAR1", "is a parquet file"),
    (b"\x7fELF", "is a program"),
    (b"%PDF", "is a PDF"),
    (b"NVR\0", "is a report of Nsight Compute; right would be its CSV: ncu --import FILE --csv --page raw"),
    (b"\x80\x02", "is a pickle"),
    (b"\x80\x03", "is a pickle"),
    (b"\x80\x04", "is a pickle, such as a memory snapshot of torch"),
    (b"\x80\x05", "is a pickle"),
    (b"\xff\xfe", "is text in UTF-16; right would be UTF-8"),
    (b"\xfe\xff", "is text in UTF-16; right would be UTF-8"),
    (b"<", "is HTML or XML"),
)
_REPORTS = (".nsys-rep", ".qdrep")
_JSON = re.compile(rb"\{|\[\s*(?:[\[{\"\]]|-?[\d.]+\s*[,\]]|null|true|false)")
_EVENTS = (b'"ph"', b'"ts"')
_KEYS = (
    (b'"rocprofiler-sdk-tool"', "is JSON of rocprofv3, which holds other records"),
    (b'"nodes"', "is an execution trace, which has no times of the GPU"),
)
_CONTROLS = re.compile(rb"[\0-\x07\x0e-\x1a\x1c-\x1f]")


def looks(path: Path) -> str:
    """A clause about what a file is: `is empty`, `is JSON without trace events`."""
    source = Source(path)
    head = source.head()
    if source.cut and not head:
        return f"is packed, and nothing of it can be unpacked: {source.cut}"
    if path.suffix in _REPORTS and head:
        return "is a report of Nsight Systems; right would be its export: nsys export --type sqlite FILE"
    return _described(head)


def _described(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return "is empty"
    for sign, clause in _SIGNS:
        if text.startswith(sign):
            return clause
    has_events = all(mark in text for mark in _EVENTS)
    if _JSON.match(text):
        other = "is JSON of trace events in another form" if has_events else "is JSON without trace events"
        return next((clause for key, clause in _KEYS if key in text), other)
    if _CONTROLS.search(text) or not _is_utf8(text):
        return "is binary data"
    return "has events of a trace, whose begin is missing" if has_events else "is text of no known form"


def _is_utf8(text: bytes) -> bool:
    """Whether it is, but for a letter that the end may cut."""
    try:
        text.decode()
    except UnicodeDecodeError as wrong:
        return len(text) - wrong.start < 4
    return True
