"""From events to where the time went: one file per question, whole nanoseconds, numbers first and findings second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FieldError
from ..traces import Progress
from ..traces.events import Trace
from ..traces.side_by_side import read_traces
from .compare import Comparison, compare_traces
from .whole import Analysis, analyze_traces

__all__ = ["Analysis", "Comparison", "analyze", "compare", "read"]

Source = str | Path | Trace


def analyze(source: Source | Sequence[Source], *, progress: Progress | None = None, workers: int = 1) -> Analysis:
    """Where the time of a job went, from the files or the traces of its ranks.

    With several `workers`, large jobs are read by that many processes side by side; that asks for a call below
    `if __name__ == "__main__"`, as Python's multiprocessing does.

    Raises:
        FieldError: no file is given, or one twice.
        FileFormatError: a file is of no format that is read.
    """
    return analyze_traces(read(source, progress=progress, workers=workers))


def compare(
    a: Source | Sequence[Source], b: Source | Sequence[Source], *, progress: Progress | None = None, workers: int = 1
) -> Comparison:
    """Whether run B is slower than run A, and where the time of its steps went; each is a file, or those of its ranks.

    Raises:
        FieldError: no file is given, or one twice in a run; a run has no steps.
        FileFormatError: a file is of no format that is read.
    """
    return compare_traces(*(read(one, progress=progress, workers=workers) for one in (a, b)))


def read(source: Source | Sequence[Source], *, progress: Progress | None = None, workers: int = 1) -> list[Trace]:
    """The traces of all files, and those that are given as such.

    Raises: as `analyze`.
    """
    given = [source] if isinstance(source, str | Path | Trace) else list(source)
    if not given:
        raise FieldError("trace: none given; right would be the file of a trace, or of each rank")
    paths = [Path(one) for one in given if not isinstance(one, Trace)]
    _check_once([path.resolve() for path in paths])
    return [*(one for one in given if isinstance(one, Trace)), *read_traces(paths, progress, workers)]


def _check_once(paths: Sequence[Path]) -> None:
    """Raises: FieldError: a file is given twice."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise FieldError(f"trace: {twice.name} is given twice; right would be each file once")
