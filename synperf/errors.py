"""The one error family. Every message names the field, what it was and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_MOST_NAMED = 64  # of names that are known: more are no help


class PerfError(Exception):
    """What the user can mend: the command line prints it as one line and exits with 2."""


class FieldError(PerfError):
    """A field is missing, misspelled, of the wrong type or out of range."""


class UnknownNameError(PerfError):
    """No thing of that kind has that name."""

    @classmethod
    def among(cls, kind: str, given: str, known: Iterable[str]) -> UnknownNameError:
        """`no GPU named 'h21'; nearest: h20, h200_sxm`, or every known name when none is near."""
        from difflib import get_close_matches  # slow to import, and only an error needs it

        names = sorted(known)
        near = get_close_matches(str(given).lower(), names, n=3, cutoff=0.5)
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        known_names = f"{', '.join(names[:_MOST_NAMED]) or 'none'}{more}"
        hint = f"nearest: {', '.join(near)}" if near else f"known: {known_names}"
        return cls(f"no {kind} named {given!r}; {hint}")


class UnsupportedError(PerfError):
    """The thing is known, but this GPU, engine or version cannot do it."""


class FileFormatError(PerfError):
    """A file does not hold what its format promises; the message names the place."""


class PluginError(PerfError):
    """The file of a family of the user's own is not what it should be; the message names the file and the line."""


class MissingExtraError(PerfError):
    """An optional package is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtraError:
        """`reading parquet needs the extra [tables]: pip install 'synperf[tables]'`."""
        return cls(f"{what} needs the extra [{extra}]: pip install 'synperf[{extra}]'")


@contextmanager
def named(what: str) -> Iterator[None]:
    """Puts the name of an option, a field or a table before the message of an error that does not begin with it.

    Raises:
        PerfError: one was raised; of the same kind. A `FieldError` where a file cannot be read.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise FieldError(f"{what}: {error.filename}: {error.strerror}") from error
    except PerfError as error:
        if str(error).startswith(f"{what}: "):
            raise
        raise type(error)(f"{what}: {error}") from error
