"""What a file gave, and what became of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..hardware import GPU
from .schema import Rows


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows of one file, or none where all were dropped, and one audit for each GPU in it."""

    rows: Rows | None
    audits: tuple[FileAudit, ...]
    times: str  # the column that holds the times
    devices: Mapping[str, GPU]  # by key
    unit: str  # of that column: s, ms, us, ns
