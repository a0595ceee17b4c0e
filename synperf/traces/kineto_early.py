"""A Kineto file that another process reads, run by run, until it meets what has to be decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..forked import CutError, taken
from .kineto_columns import Columns, is_compiled
from .kineto_stream import Beside, Run, is_of_kineto, runs
from .sources import Progress, Source


class NotEarlyError(Exception):
    """Nobody reads the file early, or not to its end: it is to be read again, from its begin."""


def send(path: Path, put: Callable[[Any], None]) -> None:
    """Puts bytes done, bytes of all, and the parts of a run or of what is beside them; None once all is there."""
    told = (0, 0)

    def progress(_: str, done: int, size: int) -> None:
        nonlocal told
        told = done, size

    if not is_compiled or not is_of_kineto(Source(path).head()):
        return
    for run in runs(path, progress):
        if isinstance(run, list):
            if run:
                return
            continue
        put((*told, run.parts if isinstance(run, Columns) else tuple(run)))
    put(None)


def runs_early(path: Path, progress: Progress | None = None) -> Iterator[Run | Beside]:
    """What `kineto_stream.runs` gives.

    Raises:
        NotEarlyError: also after some runs have come.
    """
    forked = taken(path)
    if forked is None:
        raise NotEarlyError
    try:
        for done, size, parts in forked.messages():
            if progress is not None:
                progress(path.name, done, size)
            yield Beside(*parts) if len(parts) == len(Beside._fields) else Columns(*parts)
    except CutError:
        raise NotEarlyError from None
