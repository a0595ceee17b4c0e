"""The traces that a question is asked of: files, or traces that were read before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FieldError
from ..traces import Progress
from ..traces.events import Trace
from ..traces.side_by_side import read_traces

Source = str | Path | Trace


def read(
    source: Source | Sequence[Source],
    *,
    progress: Progress | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
) -> list[Trace]:
    """The traces of all files, and those that are given as such; files that the folder `cache` has are not read again.

    Raises:
        FieldError: no file is given, or one twice; `cache` is no folder.
        FileFormatError: a file is of no format that is read.
    """
    given = [source] if isinstance(source, str | Path | Trace) else list(source)
    if not given:
        raise FieldError("trace: none given; right would be the file of a trace, or of each rank")
    paths = [Path(one) for one in given if not isinstance(one, Trace)]
    folder = None if cache is None else Path(cache)
    _check_once([path.resolve() for path in paths])
    return [*(one for one in given if isinstance(one, Trace)), *read_traces(paths, progress, workers, folder)]


def _check_once(paths: Sequence[Path]) -> None:
    """Raises: FieldError: a file is given twice."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise FieldError(f"trace: {twice.name} is given twice; right would be each file once")
