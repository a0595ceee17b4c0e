"""Lists of numbers on the command line: `10,20,30`, or a file of them."""

from __future__ import annotations

from pathlib import Path

from ..errors import FieldError

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
    """The text of the file, if it is the name of one."""
    try:
        path = Path(text)
        if not path.is_file():
            return text
        if path.stat().st_size > _MOST_BYTES:
            raise FieldError(f"{option}: {text!r} has more than {_MOST_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FieldError(f"{option}: {text!r} is not text; right would be numbers with commas or spaces") from None
    except ValueError:  # a NUL in the name
        return text


def _number(option: str, part: str) -> float:
    try:
        if part.isascii() and "_" not in part:
            return int(part) if part.lstrip("+-").isdigit() else float(part)
    except (ValueError, OverflowError):
        pass
    raise FieldError(f"{option}: {part[:40]!r} is not a number; right would be a list, e.g. 10,20,30, or a file")
