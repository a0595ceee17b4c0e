"""Progress on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[[str, int, int], None]  # (what, done, of all)


@contextmanager
def stages() -> Iterator[Told | None]:
    """A bar that names what is going on; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # commands that are done at once need no bar
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading")
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


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
