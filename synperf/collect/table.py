"""Measured rows as a parquet file, the plan in its metadata. The one module of collecting that needs polars."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from ..errors import FileFormatError, PerfError, UnknownNameError
from ..tables.outfile import replacing
from .journal import Journal, Row
from .plan import Plan

_KEY = "synperf.collect"
_TYPES = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}
_UNTOLD = {"cpu_threads": pl.Int64, "clock_hz": pl.Float64, "power_w": pl.Float64}  # columns without a value; else text


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the metadata say: the plan, how far it came, and calls that gave no row, by reason."""

    plan: Plan
    complete: bool
    rows: int
    failed: dict[str, int]

    def left_out(self) -> dict[str, int]:
        """How many calls have no row, by reason: those that the plan leaves out, and those that gave none."""
        return {**self.plan.skipped, **self.failed}


def write(path: Path, journal: Journal) -> About:
    """Writes the rows so far, whole or not at all; columns of a family's fields are empty in the rows of others.

    Raises:
        FieldError, PerfError: it cannot be written there.
    """
    rows = [_flat(row) for row in journal.rows()]
    said = About(plan=journal.plan, complete=not journal.left(), rows=len(rows), failed=_failures(journal))
    frame = pl.DataFrame(rows, schema=_schema(rows), orient="row")
    with replacing("out", path) as part:
        try:
            frame.write_parquet(part, metadata={_KEY: msgspec.json.encode(said).decode()})
        except (pl.exceptions.PolarsError, OSError) as wrong:
            raise PerfError(f"out: {path}: {getattr(wrong, 'strerror', None) or wrong}") from None
    return said


def about(path: Path) -> About:
    """What the metadata of a file say.

    Raises:
        FileFormatError: it is no file of a collection.
    """
    try:
        return msgspec.json.decode(pl.read_parquet_metadata(path)[_KEY], type=About)
    except (pl.exceptions.PolarsError, OSError, KeyError, msgspec.DecodeError, RecursionError, UnknownNameError):
        raise FileFormatError(f"out: {path.name} is there and holds no collection; name another") from None


def _failures(journal: Journal) -> dict[str, int]:
    """How many calls gave no row, by reason."""
    reasons = [entry.skipped for entry in journal.entries if entry.row is None]
    return {reason: reasons.count(reason) for reason in sorted(set(reasons))}


def _flat(row: Row) -> dict[str, Any]:
    """The family, its fields, and the rest."""
    rest = {name: getattr(row, name) for name in row.__struct_fields__ if name not in ("family", "fields")}
    return {"family": row.family, **row.fields, **rest}


def _schema(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Columns with their types: fields of families before what is of every row."""
    found: dict[str, Any] = {}
    for row in rows:
        found |= {name: _TYPES[type(value)] for name, value in row.items() if value is not None and name not in found}
    rest = [name for name in Row.__struct_fields__ if name not in ("family", "fields")]
    fields = {name: kind for name, kind in found.items() if name not in rest}
    return fields | {name: found.get(name, _UNTOLD.get(name, pl.String)) for name in rest}
