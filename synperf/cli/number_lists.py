"""Lists of numbers on the command line: `10,20,30`, or a file of them."""

from __future__ import annotations

from pathlib import Path

from ..errors import FieldError, named

_MOST_BYTES = 1 << 28


def numbers(option: str, text: str) -> list[float]:
    """The numbers of a list with commas or spaces, or of the file of that name.

    Raises:
        FieldError: a part is no number, there is none, or the file is not text or too large.
    """
    parts = _read(option, text).replace(",", " ").split()
    if not parts:
        raise FieldError(f"{option}: got no number; right would be a list, e.g. 10,20,30, or a file of them")
    return [_number(option, part) for part in parts]


def _read(option: str, text: str) -> str:
    """The text of the file, if it is the name of one.

    Raises:
        FieldError: the file is not text, too large, or cannot be read.
    """
    if not _is_file(text):
        return text
    with named(option):
        if Path(text).stat().st_size > _MOST_BYTES:
            raise FieldError(f"{text!r} has more than {_MOST_BYTES >> 20} MiB")
        try:
            return Path(text).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise FieldError(f"{text!r} is not text; right would be numbers with commas or spaces") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def _number(option: str, part: str) -> float:
    try:
        if part.isascii() and "_" not in part:
            return int(part) if part.lstrip("+-").isdigit() else float(part)
    except (ValueError, OverflowError):
        pass
    raise FieldError(f"{option}: {part[:40]!r} is not a number; right would be a list, e.g. 10,20,30, or a file")
