"""DataFrames of measurements -> rows of the schema, with what was dropped and why. The extra [data] has polars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from ..hardware import DType
from ..kernels.dispatch import from_source
from .audit import FileAudit
from .merging import label, merged
from .schema import NUMBERS, Rows

NO_TIME = "the time is zero, negative or missing"
NO_KERNEL = "unknown kernel source"


def first_reason(tests: Iterable[tuple[pl.Expr, str]]) -> pl.Expr:
    """The reason of the first test that a row meets, else null: the column `dropped`."""
    return pl.coalesce(pl.when(test).then(pl.lit(reason)) for test, reason in tests).alias("dropped")


def is_timed() -> pl.Expr:
    """Whether `time_s` is a positive number."""
    return (pl.col("time_s").is_finite() & (pl.col("time_s") > 0)).fill_null(False)


def with_kernels(table: pl.DataFrame, family: str, suffix: str = "") -> pl.DataFrame:
    """Adds `kernel`, the canonical name of the row's kernel source, or null where there is none.

    With a suffix, that of the kernel source with the suffix: where one source names different work in two tables.
    """
    pairs = table.select("kernel_source", "dtype").unique()
    known = [
        from_source(family, f"{name}{suffix}", DType(dtype)) if name and dtype else None
        for name, dtype in pairs.iter_rows()
    ]
    named = pairs.with_columns(pl.Series("kernel", known, dtype=pl.String))
    return table.join(named, on=["kernel_source", "dtype"], how="left", nulls_equal=True, maintain_order="left")


def kept(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows that are used, of one or more tables."""
    return pl.concat(table.filter(pl.col("dropped").is_null()) for table in tables)


def audit(table: pl.DataFrame, family: str, source: str, gpu: str) -> FileAudit:
    """What became of a table."""
    dropped = table.filter(table["dropped"].is_not_null())["dropped"].value_counts().sort("dropped")
    used = kept([table])
    return FileAudit(
        source=source,
        gpu=gpu,
        rows=len(table),
        kept=len(used),
        keys=used.select(*label(family), *NUMBERS[family]).n_unique(),
        dropped=dict(dropped.iter_rows()),
    )


def rows(table: pl.DataFrame, family: str) -> Rows:
    """Measured rows, duplicates merged, ordered by label and then by the number fields.

    The table has the columns of `label(family)`, the number fields, `time_s`, `is_test` and `biased`.

    Raises:
        FieldError: it is empty.
    """
    names = label(family)
    parts = table.partition_by(*names, as_dict=True)
    return Rows.join([_merged(parts[values], dict(zip(names, values, strict=True))) for values in sorted(parts)])


def _merged(part: pl.DataFrame, values: Mapping[str, Any]) -> Rows:
    numbers = {name: part[name].to_numpy() for name in NUMBERS[values["family"]]}
    return merged(values, numbers, *(part[name].to_numpy() for name in ("time_s", "is_test", "biased")))
