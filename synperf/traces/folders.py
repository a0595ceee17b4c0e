"""Folders of traces, such as a job with one file for each of its ranks."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import FileFormatError
from . import formats, recognised

_NUMBER = re.compile(r"(\d+)")


def traces_in(folder: Path) -> tuple[list[Path], int]:
    """The timelines that are directly in a folder, rank 2 before rank 10, and how many of its files are none.

    Raises:
        FileFormatError: there are none.
    """
    files = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: _order(path.name))
    found = [path for path in files if recognised(path) is not None]
    if not found:
        held = f"none of its {len(files)} files is a trace" if files else "it holds no files"
        raise FileFormatError(f"{folder}: {held}; right would be a folder with files of {', '.join(formats())}")
    return found, len(files) - len(found)


def _order(name: str) -> list[tuple[int, int, str]]:
    """Numbers by their value, and what is between them by its letters."""
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBER.split(name)]
