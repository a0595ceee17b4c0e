"""A result on standard output and its drawing in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..tables import outfile


def print_and_draw(shown: str, svg: str | None, drawing: Callable[[], str]) -> None:
    """Prints what is shown and writes the drawing to `svg`, if that is asked for; both or neither.

    Raises:
        FieldError: `svg` is no place for a file.
    """
    if svg is None:
        print(shown)
        return
    with outfile.replacing("svg", Path(svg)) as part:
        outfile.write_text(part, drawing())
        print(shown, flush=True)  # before the drawing has its name: without the text there is none
