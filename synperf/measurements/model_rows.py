"""Files of measured models: which of the known kinds they are."""

from __future__ import annotations

from pathlib import Path

from ..errors import FileFormatError
from . import eager_passes, static_batches
from .parquet_rows import rows

POINTS, BATCHES, PASSES = "serving points", "static batches", "passes"
_COLUMNS = {BATCHES: static_batches.COLUMNS, PASSES: eager_passes.COLUMNS}
_ENDING = ".parquet"  # of files that are not a table of serving points


def kind_of(path: Path) -> str:
    """What a file holds, by its columns.

    Raises:
        FileFormatError: it cannot be read, or is of no known kind.
        MissingExtraError: the extra [data] is not installed.
    """
    if path.suffix != _ENDING:
        return POINTS
    found = set(next(iter(rows(path)), {}))
    nearest = max(_COLUMNS, key=lambda kind: len(_COLUMNS[kind] & found))
    if lacking := sorted(_COLUMNS[nearest] - found):
        missing = ", ".join(lacking[:6])
        raise FileFormatError(f"rows: {path.name} is no file of measured models; for {nearest} it lacks {missing}")
    return nearest
