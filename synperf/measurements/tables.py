"""Parquet tables -> measured rows, by rules that are data: what to read, rename and drop. The one user of polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import FileFormatError
from ..hardware import DType
from ..kernels.dispatch import from_source
from .schema import Rows, is_gemm_test

IS_TEST: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"gemm": is_gemm_test}
TEXT = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "dtype", "source")
_RULE_COLUMNS = ("gpu", "engine", "version", "table_dtype", "kernel_source")
_OTHER_DEVICE = "the device column is another GPU"
_NO_TIME = "the time is zero, negative or missing"
_NO_FORMAT = "no such format in calls"
_NO_KERNEL = "unknown kernel source"


def load(path: Path, label: Mapping[str, str], rules: Mapping[str, Any]) -> pl.DataFrame:
    """One file with the schema's names and, in `dropped`, why a row is not used, or null.

    `label` has the values of gpu, family and source.

    Raises:
        FileFormatError: the file is no parquet, lacks a column, or its times are not in the unit of the rules.
    """
    spec = rules[label["family"]]
    stored = _read(path, label["source"], [spec["dtype"], *spec["fields"]])
    table = stored.rename({spec["dtype"]: "table_dtype"}).with_columns(
        (pl.col("latency") * spec["unit_s"]).alias("time_s"),
        pl.col("framework").str.to_lowercase().alias("engine"),
        *(pl.lit(value).alias(name) for name, value in label.items()),
    )
    _check_unit(table, spec["fastest_s"], label["source"])
    table = _kernels(table.with_columns(_dtype(spec, rules["dtypes"]).alias("dtype")), label["family"])
    dropped = _dropped(spec.get("drop", []), rules["devices"].get(label["gpu"], []))
    return table.with_columns(dropped.alias("dropped")).select(*TEXT, *spec["fields"], "time_s", "dropped")


def _read(path: Path, source: str, own: list[str]) -> pl.DataFrame:
    columns = ["framework", "version", "device", "kernel_source", *own, "latency"]
    try:
        return pl.read_parquet(path, columns=columns)
    except (pl.exceptions.PolarsError, OSError) as wrong:
        raise FileFormatError(f"{source}: not a table with the columns {', '.join(columns)} ({wrong})") from None


def _check_unit(table: pl.DataFrame, fastest_s: list[float], source: str) -> None:
    times = table.filter(_timed())["time_s"].to_numpy()
    if len(times) and not fastest_s[0] <= times.min() <= fastest_s[1]:
        raise FileFormatError(
            f"{source}: latency should be in milliseconds, but then the fastest row takes {times.min():.3g} s; "
            f"the fastest row of a table takes {fastest_s[0]:.1g} to {fastest_s[1]:.1g} s"
        )


def _dtype(spec: Mapping[str, Any], dtypes: Mapping[str, str]) -> pl.Expr:
    """The format that calls know, or null where there is none."""
    dtype = pl.col("table_dtype").replace_strict(dtypes, default=None, return_dtype=pl.String)
    for rule in spec.get("relabel", []):
        dtype = pl.when(_matches(rule)).then(pl.lit(rule["dtype"])).otherwise(dtype)
    return dtype


def _kernels(table: pl.DataFrame, family: str) -> pl.DataFrame:
    """Adds `kernel`, the canonical name of the row's kernel source, or null where there is none."""
    pairs = table.select("kernel_source", "dtype").unique()
    known = [from_source(family, name, DType(dtype)) if name and dtype else None for name, dtype in pairs.iter_rows()]
    named = pairs.with_columns(pl.Series("kernel", known, dtype=pl.String))
    return table.join(named, on=["kernel_source", "dtype"], how="left", nulls_equal=True, maintain_order="left")


def _dropped(rules: list[Mapping[str, Any]], devices: list[str]) -> pl.Expr:
    """The first reason that applies to a row, else null."""
    tests: list[tuple[pl.Expr, str]] = [(_matches(rule), rule["reason"]) for rule in rules]
    tests += [
        (~pl.col("device").is_in(devices).fill_null(False), _OTHER_DEVICE),
        (~_timed(), _NO_TIME),
        (pl.col("dtype").is_null(), _NO_FORMAT),
        (pl.col("kernel").is_null(), _NO_KERNEL),
    ]
    return pl.coalesce(pl.when(test).then(pl.lit(reason)) for test, reason in tests)


def _timed() -> pl.Expr:
    return (pl.col("time_s").is_finite() & (pl.col("time_s") > 0)).fill_null(False)


def _matches(rule: Mapping[str, Any]) -> pl.Expr:
    return pl.all_horizontal(pl.col(name).is_in(rule[name]) for name in _RULE_COLUMNS if name in rule)


def kept(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows that are used, of one or more loaded files."""
    return pl.concat(table.filter(pl.col("dropped").is_null()) for table in tables)


def pooled(table: pl.DataFrame, engine: str) -> pl.DataFrame:
    """The table under the name of one engine; version, kernel source and source name all that went in."""
    versions = table.select(pl.format("{} {}", "engine", "version")).to_series().unique().sort()
    names = {name: " + ".join(table[name].unique().sort()) for name in ("kernel_source", "source")}
    label = {"engine": engine, "version": " + ".join(versions), **names}
    return table.with_columns(pl.lit(value).alias(name) for name, value in label.items())


def rows(table: pl.DataFrame, fields: list[str]) -> Rows:
    """Measured rows, duplicates merged, ordered by label and then by the fields.

    Raises:
        FieldError: the table is empty.
    """
    parts = table.partition_by(*TEXT, as_dict=True)
    return Rows.join([_merged(parts[label], dict(zip(TEXT, label, strict=True)), fields) for label in sorted(parts)])


def _merged(part: pl.DataFrame, label: dict[str, Any], fields: list[str]) -> Rows:
    """Rows of one label, measurements of one shape merged: the median, and how far they lie apart."""
    time = pl.col("time_s")
    spread = (time.max() - time.min()) / 2 / time.median()
    shapes = part.group_by(fields).agg(time.median(), spread.alias("spread"), pl.len().alias("samples")).sort(fields)
    numbers = {name: shapes[name].to_numpy() for name in fields}
    column = {name: np.full(len(shapes), value, dtype=object) for name, value in label.items()}
    return Rows(
        fields=numbers | {"batch": np.ones(len(shapes), dtype=np.int64), "dtype": column.pop("dtype")},
        time_s=shapes["time_s"].to_numpy(),
        spread=shapes["spread"].to_numpy(),
        samples=shapes["samples"].to_numpy(),
        is_test=IS_TEST[label["family"]](numbers["n"], numbers["k"]),
        **column,
    )
