"""The rows of a parquet file that is small: measured models, a row for each run."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import FieldError, FileFormatError, MissingExtraError


def rows(path: Path) -> list[dict[str, Any]]:
    """All of them, by column.

    Raises:
        FieldError: there is no such file.
        FileFormatError: it cannot be read.
        MissingExtraError: the extra [data] is not installed.
    """
    try:
        polars = import_module("polars")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("reading measured models", "data") from missing
    if not path.exists():
        raise FieldError(f"rows: no file {str(path)!r}")
    try:
        found: list[dict[str, Any]] = polars.read_parquet(path).to_dicts()
    except (OSError, polars.exceptions.PolarsError) as broken:
        raise FileFormatError(f"rows: {path.name} is no parquet file that can be read") from broken
    return found
