"""The parquet tables of aiconfigurator-core, by rules that are data: what to read, rename and drop. Needs polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import FileFormatError
from .frames import NO_KERNEL, NO_TIME, first_reason, is_timed, with_kernels
from .merging import LABEL
from .schema import is_gemm_test

IS_TEST: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"gemm": is_gemm_test}
_RULE_COLUMNS = ("gpu", "engine", "version", "table_dtype", "kernel_source")
_OTHER_DEVICE = "the device column is another GPU"
_NO_FORMAT = "no such format in calls"


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
        pl.lit(1, dtype=pl.Int64).alias("batch"),
        pl.lit(False).alias("biased"),
        *(pl.lit(value).alias(name) for name, value in label.items()),
    )
    _check_unit(table, spec["fastest_s"], label["source"])
    table = with_kernels(table.with_columns(_dtype(spec, rules["dtypes"]).alias("dtype")), label["family"])
    dropped = _dropped(spec.get("drop", []), rules["devices"].get(label["gpu"], []))
    return table.with_columns(dropped).select(*LABEL, *spec["fields"], "batch", "time_s", "biased", "dropped")


def with_split(table: pl.DataFrame, family: str) -> pl.DataFrame:
    """Adds `is_test`, the published split."""
    return table.with_columns(pl.Series("is_test", IS_TEST[family](table["n"].to_numpy(), table["k"].to_numpy())))


def _read(path: Path, source: str, own: list[str]) -> pl.DataFrame:
    columns = ["framework", "version", "device", "kernel_source", *own, "latency"]
    try:
        return pl.read_parquet(path, columns=columns)
    except (pl.exceptions.PolarsError, OSError) as wrong:
        raise FileFormatError(f"{source}: not a table with the columns {', '.join(columns)} ({wrong})") from None


def _check_unit(table: pl.DataFrame, fastest_s: list[float], source: str) -> None:
    times = table.filter(is_timed())["time_s"].to_numpy()
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


def _dropped(rules: list[Mapping[str, Any]], devices: list[str]) -> pl.Expr:
    """The first reason that applies to a row, else null."""
    tests: list[tuple[pl.Expr, str]] = [(_matches(rule), rule["reason"]) for rule in rules]
    tests += [
        (~pl.col("device").is_in(devices).fill_null(False), _OTHER_DEVICE),
        (~is_timed(), NO_TIME),
        (pl.col("dtype").is_null(), _NO_FORMAT),
        (pl.col("kernel").is_null(), NO_KERNEL),
    ]
    return first_reason(tests)


def _matches(rule: Mapping[str, Any]) -> pl.Expr:
    return pl.all_horizontal(pl.col(name).is_in(rule[name]) for name in _RULE_COLUMNS if name in rule)


def pooled(table: pl.DataFrame, engine: str) -> pl.DataFrame:
    """The table under the name of one engine; version, kernel source and source name all that went in."""
    versions = table.select(pl.format("{} {}", "engine", "version")).to_series().unique().sort()
    names = {name: " + ".join(table[name].unique().sort()) for name in ("kernel_source", "source")}
    label = {"engine": engine, "version": " + ".join(versions), **names}
    return table.with_columns(pl.lit(value).alias(name) for name, value in label.items())
