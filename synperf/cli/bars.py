"""Progress on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

_DRAWN_EVERY_S = 0.1
Told = Callable[[str, int, int], None]  # (what, done, of all)


@contextmanager
def stages() -> Iterator[Told | None]:
    """A bar that names what is going on; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # commands that are done at once need no bar
    from rich.progress import Progress

    # drawn by whoever tells and not by a thread of its own, beside which no process may be forked
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task, drawn = bar.add_task("reading"), -_DRAWN_EVERY_S

        def told(what: str, done: int, total: int) -> None:
            nonlocal drawn
            bar.update(task, description=what, completed=done, total=total)
            if (now := monotonic()) - drawn >= _DRAWN_EVERY_S:
                drawn = now
                bar.refresh()

        yield told


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar over so many things; what is yielded is told how many more are done."""
    done = 0
    with stages() as told:

        def more(count: int) -> None:
            nonlocal done
            done += count
            if told is not None:
                told(what, done, total)

        yield more
