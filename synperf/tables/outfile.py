"""A file that is there when it is complete, and not at all when anything failed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ..errors import FieldError


@contextmanager
def replacing(field: str, path: Path) -> Iterator[Path]:
    """A temporary name in the same folder, to be written in the block and renamed at its end.

    Raises:
        FieldError: `path` is no place for a file; the message begins with `field`.
    """
    target = _checked(field, path)
    part = target.with_name(f".synperf-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def mode(path: Path) -> int | None:
    """The file's type and permissions; None where there is none."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # not there, a name too long, or a NUL in it
        return None


def _checked(field: str, path: Path) -> Path:
    """The file that the path means, links followed."""
    found = mode(path)
    if found is not None and not S_ISREG(found):
        raise FieldError(f"{field}: {str(path)!r} is there and is no file")
    target = path if found is None else path.resolve()
    folder = mode(target.parent)
    if folder is None or not S_ISDIR(folder):
        raise FieldError(f"{field}: no folder {str(target.parent)!r}; make it first")
    if "\0" in target.name or len(os.fsencode(target.name)) > 255:
        raise FieldError(f"{field}: {str(path)[:40]!r} is no name of a file")
    return target
