"""Several files at once, each in a process of its own: for jobs of many ranks."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from . import read_trace
from .events import Trace
from .sources import Progress

_WORTH_BYTES = 8 * 2**20  # of all files; fewer are read before other processes have started


def read_traces(
    paths: Sequence[Path], progress: Progress | None, workers: int, cache: Path | None = None
) -> list[Trace]:
    """The traces of all files, in their order, read by at most that many processes; those that `cache` has are not.

    Where there are several, this has to be called below `if __name__ == "__main__"`, as Python's multiprocessing asks.

    Raises: as `read_trace`.
    """
    reader = _reader(cache)
    sizes = [path.stat().st_size for path in paths]
    if min(workers, len(paths)) < 2 or sum(sizes) < _WORTH_BYTES:
        return [trace for path in paths for trace in reader(path, progress=progress)]
    from multiprocessing import get_context  # one file needs no other process

    found: list[Trace] = []
    with get_context("spawn").Pool(min(workers, len(paths)), _quiet) as pool:  # ends its processes, whatever happens
        for place, traces in enumerate(pool.imap(partial(reader, progress=None), paths)):
            found += traces
            if progress is not None:
                progress(paths[place].name, sum(sizes[: place + 1]), sum(sizes))
    return found


def _reader(cache: Path | None) -> Callable[..., list[Trace]]:
    if cache is None:
        return read_trace
    from .kept import check_folder, read_kept  # slow to import

    check_folder(cache)
    return partial(read_kept, folder=cache)


def _quiet() -> None:
    """Leaves an interrupt to the process that asked: it ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
