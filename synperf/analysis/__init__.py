"""From events to where the time went: one file per question, whole nanoseconds, numbers first and findings second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..traces import Progress
from .reading import Source, read
from .whole import Analysis, analyze_traces

__all__ = ["Analysis", "analyze", "read"]


def analyze(
    source: Source | Sequence[Source],
    *,
    progress: Progress | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
) -> Analysis:
    """Where the time of a job went, from the files or the traces of its ranks.

    With several `workers`, large jobs are read by that many processes side by side; that asks for a call below
    `if __name__ == "__main__"`, as Python's multiprocessing does. What is read is kept in the folder `cache`, as
    columns that are read at once where the file has not changed since.

    Raises:
        FieldError: no file is given, or one twice; `cache` is no folder.
        FileFormatError: a file is of no format that is read.
    """
    return analyze_traces(read(source, progress=progress, workers=workers, cache=cache))
