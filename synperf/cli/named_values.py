"""Options of the form NAME=VALUE that may be repeated, such as `decode=8ms:4`."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FieldError


def split(option: str, texts: Iterable[str], right: str) -> list[tuple[str, list[str]]]:
    """Each name with what follows it, which `:` separates: `decode=8ms:4` is ("decode", ["8ms", "4"]).

    Raises:
        FieldError: one has no name or no value; `right` is what would be right.
    """
    found = []
    for text in texts:
        name, _, rest = text.partition("=")
        if not name.strip() or not rest.strip():
            raise FieldError(f"{option}: {text[:40]!r} is not NAME=VALUE; right would be {right}")
        found.append((name.strip(), [part.strip() for part in rest.split(":")]))
    return found


def whole_number(option: str, text: str) -> int:
    """A whole number as text.

    Raises:
        FieldError: it is none.
    """
    try:
        return int(text)
    except ValueError:
        raise FieldError(f"{option}: {text[:40]!r} is not a whole number") from None
