"""What is not read of a file of JSON events: blanks, and what is lost."""

from __future__ import annotations

BLANK = b" \t\r\n"


class Losses:
    """Counts, while a file is read."""

    def __init__(self) -> None:
        self.unread = 0  # events, or what is left of them
        self.unread_bytes = 0
        self.mended = 0  # events whose text had to be mended
