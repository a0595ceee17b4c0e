"""From events to where the time went: one file per question, whole nanoseconds, numbers first and findings second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FieldError
from ..traces import Progress, read_trace
from ..traces.events import Trace
from .whole import Analysis, analyze_traces

__all__ = ["Analysis", "analyze"]

Source = str | Path | Trace


def analyze(source: Source | Sequence[Source], *, progress: Progress | None = None) -> Analysis:
    """Where the time of a job went, from the files or the traces of its ranks.

    Raises:
        FieldError: no file is given, or one twice.
        FileFormatError: a file is of no format that is read.
    """
    given = [source] if isinstance(source, str | Path | Trace) else list(source)
    if not given:
        raise FieldError("trace: none given; right would be the file of a trace, or of each rank")
    paths = [Path(one).resolve() for one in given if not isinstance(one, Trace)]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise FieldError(f"trace: {twice.name} is given twice; right would be each file once")
    read = [[one] if isinstance(one, Trace) else read_trace(one, progress=progress) for one in given]
    return analyze_traces([trace for traces in read for trace in traces])
