"""DataFrames of measurements -> rows of the schema, with what was dropped and why. The extra [data] has polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from ..hardware import DType
from ..kernels.dispatch import from_source
from .audit import FileAudit
from .merging import LABEL, merged
from .schema import Rows

NO_TIME = "the time is zero, negative or missing"
NO_KERNEL = "unknown kernel source"


def first_reason(tests: Iterable[tuple[pl.Expr, str]]) -> pl.Expr:
    """The reason of the first test that a row meets, else null: the column `dropped`."""
    return pl.coalesce(pl.when(test).then(pl.lit(reason)) for test, reason in tests).alias("dropped")


def is_timed() -> pl.Expr:
    """Whether `time_s` is a positive number."""
    return (pl.col("time_s").is_finite() & (pl.col("time_s") > 0)).fill_null(False)


def with_kernels(table: pl.DataFrame, family: str) -> pl.DataFrame:
    """Adds `kernel`, the canonical name of the row's kernel source, or null where there is none."""
    pairs = table.select("kernel_source", "dtype").unique()
    known = [from_source(family, name, DType(dtype)) if name and dtype else None for name, dtype in pairs.iter_rows()]
    named = pairs.with_columns(pl.Series("kernel", known, dtype=pl.String))
    return table.join(named, on=["kernel_source", "dtype"], how="left", nulls_equal=True, maintain_order="left")


def kept(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows that are used, of one or more tables."""
    return pl.concat(table.filter(pl.col("dropped").is_null()) for table in tables)


def audit(table: pl.DataFrame, numbers: Sequence[str], source: str, gpu: str) -> FileAudit:
    """What became of a table."""
    dropped = table.filter(table["dropped"].is_not_null())["dropped"].value_counts().sort("dropped")
    used = kept([table])
    return FileAudit(
        source=source,
        gpu=gpu,
        rows=len(table),
        kept=len(used),
        keys=used.select(*LABEL, *numbers).n_unique(),
        dropped=dict(dropped.iter_rows()),
    )


def rows(table: pl.DataFrame, numbers: Sequence[str]) -> Rows:
    """Measured rows, duplicates merged, ordered by label and then by the number fields.

    The table has the columns of `LABEL`, the number fields, `time_s`, `is_test` and `biased`.

    Raises:
        FieldError: it is empty.
    """
    parts = table.partition_by(*LABEL, as_dict=True)
    return Rows.join([_merged(parts[label], label, numbers) for label in sorted(parts)])


def _merged(part: pl.DataFrame, label: Sequence[str], numbers: Sequence[str]) -> Rows:
    columns = {name: part[name].to_numpy() for name in (*numbers, "time_s", "is_test", "biased")}
    return merged(
        dict(zip(LABEL, label, strict=True)),
        {name: columns[name] for name in numbers},
        columns["time_s"],
        columns["is_test"],
        columns["biased"],
    )
