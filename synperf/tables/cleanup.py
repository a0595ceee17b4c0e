"""Removal of what is unfinished, which no signal may keep from its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def uninterrupted(action: Callable[[], object]) -> None:
    """Runs an action that may be repeated, again and again until none interrupts it; then raises what had.

    Raises:
        KeyboardInterrupt: one came, of whatever signal.
    """
    late: KeyboardInterrupt | None = None
    while True:
        try:
            action()
            break
        except KeyboardInterrupt as error:
            late = error
    if late is not None:
        raise late


def remove(paths: Iterable[Path]) -> None:
    """Removes files, and folders with all that they hold; what is not there is no error."""
    from shutil import rmtree  # slow to import, and most commands remove nothing

    for path in paths:
        if path.is_dir():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
