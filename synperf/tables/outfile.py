"""A file that is there when it is complete, and not at all when anything failed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ..errors import FieldError, PerfError
from .cleanup import remove, uninterrupted


@contextmanager
def replacing(field: str, path: Path) -> Iterator[Path]:
    """A temporary name in the same folder, to be written in the block and renamed at its end.

    The block may make `parts_folder` of it too, which is removed whatever it holds.

    Raises:
        FieldError: `path` is no place for a file; the message begins with `field`.
        PerfError: it cannot be written; the message names `path`, never the temporary file.
    """
    target = _checked(field, path)
    part = _part_of(target)
    try:
        yield part
        part.replace(target)
    except OSError as error:
        if part.name in str(error.filename):
            raise PerfError(f"{path}: {error.strerror}") from error
        raise
    finally:
        uninterrupted(lambda: remove((part, parts_folder(part))))


@contextmanager
def replacing_folder(field: str, path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, to be filled in the block and renamed at its end; an empty folder may be there.

    Raises:
        FieldError: `path` is no place for a folder, or one that holds something; the message begins with `field`.
        PerfError: it cannot be written; the message names `path`, never the temporary folder.
    """
    target = _folder(field, path)
    part = _part_of(target)
    try:
        part.mkdir()
        yield part
        part.replace(target)
    except OSError as error:
        if part.name in str(error.filename):
            raise PerfError(f"{path}: {error.strerror}") from error
        raise
    finally:
        uninterrupted(lambda: remove([part]))


def _folder(field: str, path: Path) -> Path:
    """The folder that the path means, links followed; it is not there, or empty."""
    found = mode(path)
    if found is None:
        return _checked(field, path)
    if not S_ISDIR(found) or any(path.iterdir()):
        raise FieldError(f"{field}: {str(path)!r} is there; right would be a folder that is new or empty")
    return path.resolve()


def require_place(field: str, path: str | Path) -> None:
    """Checks that a file can be written at `path`, before work of which it is to hold the result.

    Raises:
        FieldError: `path` is no place for a file, or its folder takes none; the message begins with `field`.
    """
    target = _checked(field, Path(path))
    part = _part_of(target)
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FieldError(f"{field}: nothing can be written into the folder {str(target.parent)!r}: {why}") from None
    finally:
        uninterrupted(lambda: remove([part]))


def _part_of(target: Path) -> Path:
    """A temporary name beside a file, which no other has."""
    return target.with_name(f".synperf-{os.getpid()}-{os.urandom(4).hex()}.part")


def parts_folder(part: Path) -> Path:
    """The folder beside a temporary name, for what is put together in it."""
    return part.with_name(f"{part.name}s")


def require_other(field: str, path: str | Path, inputs: Mapping[str, str | Path | None]) -> None:
    """Checks that a file to be written is none of those that are read, by the names of their options.

    Raises:
        FieldError: it is one of them.
    """
    for option, given in inputs.items():
        both = given is not None and mode(Path(path)) is not None and mode(Path(given)) is not None
        if both and given is not None and Path(path).samefile(given):
            raise FieldError(f"{field}: {str(path)!r} is the file of --{option} itself; name another")


def write_text(part: Path, text: str) -> None:
    """Writes a file whole; an error always has its name."""
    try:
        part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(part)) from error


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
