"""The traces that a question is asked of: files, folders of them, or traces that were read before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import FieldError
from ..traces import Progress
from ..traces.events import Caution, Trace
from ..traces.folders import traces_in
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

    A folder stands for the traces that are directly in it.

    Raises:
        FieldError: no file is given, or one twice; `cache` is no folder.
        FileFormatError: a file is of no format that is read, or a folder has no traces.
    """
    given = [source] if isinstance(source, str | Path | Trace) else list(source)
    if not given:
        raise FieldError("trace: none given; right would be the file of a trace, or of each rank")
    paths, others = _files([Path(one) for one in given if not isinstance(one, Trace)])
    folder = None if cache is None else Path(cache)
    _check_once([path.resolve() for path in paths])
    found = read_traces(paths, progress, workers, folder)
    return [*(one for one in given if isinstance(one, Trace)), *_told(found, others)]


def _files(paths: Sequence[Path]) -> tuple[list[Path], int]:
    """All files, those of folders too, and how many files of folders are no traces."""
    found, others = [], 0
    for path in paths:
        here, left = traces_in(path) if path.is_dir() else ([path], 0)
        found += here
        others += left
    return found, others


def _told(traces: Sequence[Trace], others: int) -> Iterator[Trace]:
    """The traces, the first of which says how many files beside it were left out."""
    for place, trace in enumerate(traces):
        left = [Caution(text="files of the folder that are no traces are left out", count=others)]
        yield trace if place or not others else replace(trace, cautions=(*trace.cautions, *left))


def _check_once(paths: Sequence[Path]) -> None:
    """Raises: FieldError: a file is given twice."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise FieldError(f"trace: {twice.name} is given twice; right would be each file once")
