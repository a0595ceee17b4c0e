"""What to say of a record that could not be read as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Caution
from ..sources import Source


def damage(source: Source, what: str, unread: int, read: int) -> Iterator[Caution]:
    """The file is cut, or some of the rows are no rows; the share is of them all."""
    if source.cut:
        yield Caution(text=f"the file is damaged: {source.cut}; what comes after is not known")
    if source.odd_lines:
        yield Caution(text="lines hold bytes that are no text, and may be read in part", count=source.odd_lines)
    if unread:
        yield Caution(text=f"{what} cannot be read", count=unread, share=unread / (unread + read))
