"""What became of the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAudit:
    """What became of the rows of one GPU in one file: `rows` read = `kept` + all `dropped`.

    Kept rows of one key are one of `keys`. `ignored` are the columns that were not read, of a user's own file.
    """

    source: str
    gpu: str
    rows: int
    kept: int
    keys: int
    dropped: Mapping[str, int]  # by reason
    ignored: tuple[str, ...] = ()
