"""The parquet tables of aiconfigurator-core, by rules that are data: what to read, rename and drop. Needs polars.

A family has tables (files of one kind), and of each the rules say which columns hold the fields of a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import FileFormatError
from .frames import NO_KERNEL, NO_TIME, first_reason, is_timed, with_kernels
from .merging import label as label_of
from .schema import LABELS, NUMBERS, is_held_out

_OTHER_DEVICE = "the device column is another GPU"
_NO_FORMAT = "no such format in calls"
_ALWAYS = ("framework", "version", "device", "kernel_source", "latency")


def load(path: Path, label: Mapping[str, str], rules: Mapping[str, Any]) -> pl.DataFrame:
    """One file with the schema's names and, in `dropped`, why a row is not used, or null.

    `label` has the values of gpu, family and source.

    Raises:
        FileFormatError: the file is no parquet, lacks a column, or its times are not in the unit of the rules.
    """
    family, spec = label["family"], rules[label["family"]]
    kind = next(table for table in spec["tables"] if path.match(table["files"]))
    stored = _read(path, label["source"], kind).with_columns(
        (pl.col("latency") * spec["unit_s"]).alias("time_s"),
        pl.col("framework").str.to_lowercase().alias("engine"),
        pl.lit(path.stem).alias("table"),
        pl.lit(False).alias("biased"),
        *(pl.lit(value).alias(name) for name, value in label.items()),
    )
    _check_unit(stored, spec["fastest_s"], label["source"])
    table = _relabelled(_with_fields(stored, family, kind, rules["dtypes"]), spec.get("relabel", []))
    table = _with_split(with_kernels(table, family, kind.get("suffix", "")), spec["split"])
    dropped = _dropped(spec.get("drop", []), rules["devices"].get(label["gpu"], []), _formats(family))
    names = (*label_of(family), *NUMBERS[family])
    return table.with_columns(dropped).select(*names, "time_s", "is_test", "biased", "dropped")


def _read(path: Path, source: str, kind: Mapping[str, Any]) -> pl.DataFrame:
    """The columns that the rules name; those that may be missing are null then."""
    columns = [*_ALWAYS, *sorted(_columns(kind["fields"].values()))]
    optional = kind.get("optional", [])
    try:
        held = pl.read_parquet_schema(path)
        found = pl.read_parquet(path, columns=[name for name in columns if name in held or name not in optional])
    except (pl.exceptions.PolarsError, OSError) as wrong:
        raise FileFormatError(f"{source}: not a table with the columns {', '.join(columns)} ({wrong})") from None
    return found.with_columns(pl.lit(None, dtype=pl.Int64).alias(name) for name in optional if name not in held)


def _columns(fields: Iterable[Any]) -> set[str]:
    """Names of the stored columns that fields are made of."""
    named = [field for field in fields if isinstance(field, str)]
    made = [field for field in fields if isinstance(field, dict) and "column" in field]
    others = (field.get(name) for field in made for name in ("else", "plus"))
    return {*named, *(field["column"] for field in made), *(other for other in others if isinstance(other, str))}


def _with_fields(stored: pl.DataFrame, family: str, kind: Mapping[str, Any], dtypes: Mapping[str, str]) -> pl.DataFrame:
    """Adds the fields of a call. A format as stored stays as `table_dtype`, `table_kv_dtype`, ..."""
    formats = [name for name in _formats(family) if isinstance(kind["fields"].get(name), str)]
    fields = [_field(value).alias(name) for name, value in kind["fields"].items()]
    table = stored.with_columns(*fields, *(pl.col(kind["fields"][name]).alias(f"table_{name}") for name in formats))
    return table.with_columns(
        pl.col(name).replace_strict(dtypes, default=None, return_dtype=pl.String) for name in formats
    )


def _field(value: Any) -> pl.Expr:
    """A field of a call, by its rule."""
    if isinstance(value, str):
        return pl.col(value)
    if not isinstance(value, dict) or "text" in value:
        constant = value["text"] if isinstance(value, dict) else value
        return pl.lit(constant, dtype=pl.Int64 if type(constant) is int else None)
    plus = value.get("plus", 0)
    column = pl.col(value["column"]) + (pl.col(plus) if isinstance(plus, str) else plus)
    other = value.get("else")
    return column if other is None else pl.when(column > 0).then(column).otherwise(_field(other))


def _formats(family: str) -> list[str]:
    return [name for name in LABELS[family] if name.endswith("dtype")]


def _relabelled(table: pl.DataFrame, rules: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    for rule in rules:
        meets = _matches(rule)
        changes = (pl.when(meets).then(pl.lit(value)).otherwise(pl.col(name)) for name, value in rule["set"].items())
        table = table.with_columns(change.alias(name) for name, change in zip(rule["set"], changes, strict=True))
    return table


def _with_split(table: pl.DataFrame, split: Mapping[str, Any]) -> pl.DataFrame:
    """Adds `is_test`, the published split: by the columns as they are stored, or by the fields of the call."""
    parts = [_text(name, table) for name in split["columns"]]
    keys = table.select(pl.concat_str(parts, separator="x").alias("split_key"))["split_key"]
    known = keys.unique()
    held = pl.Series("is_test", is_held_out(known, split.get("modulus", 5), split.get("remainder", 0)))
    return table.with_columns(split_key=keys).join(
        pl.DataFrame({"split_key": known, "is_test": held}), on="split_key", how="left", maintain_order="left"
    )


def _text(name: str, table: pl.DataFrame) -> pl.Expr:
    return pl.col(name).cast(pl.String).fill_null("") if name in table.columns else pl.lit("")


def _check_unit(table: pl.DataFrame, fastest_s: list[float], source: str) -> None:
    times = table.filter(is_timed())["time_s"].to_numpy()
    if len(times) and not fastest_s[0] <= times.min() <= fastest_s[1]:
        raise FileFormatError(
            f"{source}: latency should be in milliseconds, but then the fastest row takes {times.min():.3g} s; "
            f"the fastest row of a table takes {fastest_s[0]:.1g} to {fastest_s[1]:.1g} s"
        )


def _dropped(rules: list[Mapping[str, Any]], devices: list[str], formats: list[str]) -> pl.Expr:
    """The first reason that applies to a row, else null."""
    tests: list[tuple[pl.Expr, str]] = [(_matches(rule), rule["reason"]) for rule in rules]
    tests += [
        (~pl.col("device").is_in(devices).fill_null(False), _OTHER_DEVICE),
        (~is_timed(), NO_TIME),
        (pl.any_horizontal(pl.col(name).is_null() for name in formats), _NO_FORMAT),
        (pl.col("kernel").is_null(), NO_KERNEL),
    ]
    return first_reason(tests)


def _matches(rule: Mapping[str, Any]) -> pl.Expr:
    """Whether a row meets a rule: every column that it names has one of the values, or is `above` a number."""
    named = {name: value for name, value in rule.items() if name not in ("set", "reason")}
    return pl.all_horizontal(
        pl.col(name) > value["above"] if isinstance(value, dict) else pl.col(name).is_in(value)
        for name, value in named.items()
    ).fill_null(False)


def pooled(table: pl.DataFrame, engine: str) -> pl.DataFrame:
    """The table under the name of one engine; version, kernel source and source name all that went in."""
    versions = table.select(pl.format("{} {}", "engine", "version")).to_series().unique().sort()
    names = {name: " + ".join(table[name].unique().sort()) for name in ("kernel_source", "source")}
    label = {"engine": engine, "version": " + ".join(versions), **names}
    return table.with_columns(pl.lit(value).alias(name) for name, value in label.items())
