"""The kernel tables of the package aiconfigurator-core, read in place and one GPU at a time.

What the tables hold is in docs/measurements.md; what is dropped or renamed, and why, in aiconfigurator.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileFormatError, MissingExtraError, UnknownNameError
from ..hardware import DType
from ..kernels.dispatch import from_source
from .schema import Rows, is_gemm_test

if TYPE_CHECKING:  # optional, and a tenth of a second to import
    import polars as pl

PACKAGE = "aiconfigurator_core"
_TEXT = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "dtype", "source")
_RULE_COLUMNS = ("gpu", "engine", "version", "table_dtype", "kernel_source")
_IS_TEST = {"gemm": is_gemm_test}
_OTHER_DEVICE = "the device column is another GPU"
_NO_TIME = "the time is zero, negative or missing"
_NO_FORMAT = "no such format in calls"
_NO_KERNEL = "unknown kernel source"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAudit:
    """What became of one file: `rows` read = `kept` + all `dropped`; kept rows of one key are one of `keys`."""

    source: str
    gpu: str
    rows: int
    kept: int
    keys: int
    dropped: Mapping[str, int]  # by reason


def folder() -> Path:
    """Where the installed package keeps its tables; the package itself is not imported.

    Raises:
        MissingExtraError: the package, or polars, is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations or find_spec("polars") is None:
        raise MissingExtraError.of("reading measured rows", "data")
    return Path(spec.submodule_search_locations[0]) / "systems" / "data"


def source() -> str:
    """The package and version that the rules are for."""
    return str(_rules()["package"])


def gpus(family: str = "gemm", root: Path | None = None) -> tuple[str, ...]:
    """Keys of the GPUs that have a table of the family."""
    root, pattern = root or folder(), _spec(family)["table"]
    return tuple(gpu for gpu in sorted(_rules()["devices"]) if any((root / gpu).glob(pattern)))


def read(gpu: str, family: str = "gemm", root: Path | None = None) -> Rows:
    """Every measured row of one GPU, duplicates merged, ordered by engine, version, kernel, format and shape.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        UnknownNameError: no table for that GPU or family.
        FileFormatError: a file lacks a column, or its times are not in the unit they should be in.
    """
    return _rows(_kept(gpu, family, root or folder()), family)


def read_torch(gpu: str, root: Path | None = None) -> Rows:
    """The 16-bit cuBLAS GEMMs of one GPU, the frameworks' timings pooled as samples of one kernel: engine `torch`.

    `version`, `kernel_source` and `source` name all that went in.
    """
    import polars as pl

    table = _kept(gpu, "gemm", root or folder()).filter(pl.col("kernel") == "cublas")
    versions = table.select(pl.format("{} {}", "engine", "version")).to_series().unique().sort()
    names = {name: " + ".join(table[name].unique().sort()) for name in ("kernel_source", "source")}
    pooled = {"engine": "torch", "version": " + ".join(versions), **names}
    return _rows(table.with_columns(pl.lit(value).alias(name) for name, value in pooled.items()), "gemm")


def audit(family: str = "gemm", root: Path | None = None) -> list[FileAudit]:
    """What was kept and dropped of every file of the family, on every device of the package."""
    root = root or folder()
    return [_audit(path, family, root) for path in sorted(root.glob(f"*/{_spec(family)['table']}"))]


def _audit(path: Path, family: str, root: Path) -> FileAudit:
    import polars as pl

    table = _table(path, family, root)
    dropped = table.filter(pl.col("dropped").is_not_null())["dropped"].value_counts().sort("dropped")
    kept = table.filter(pl.col("dropped").is_null())
    return FileAudit(
        source=path.relative_to(root).as_posix(),
        gpu=path.relative_to(root).parts[0],
        rows=len(table),
        kept=len(kept),
        keys=kept.select(*_TEXT, *_spec(family)["fields"]).n_unique(),
        dropped=dict(dropped.iter_rows()),
    )


def _kept(gpu: str, family: str, root: Path) -> pl.DataFrame:
    import polars as pl

    if gpu not in gpus(family, root):
        raise UnknownNameError.among(f"measured {family} table", gpu, gpus(family, root))
    tables = [_table(path, family, root) for path in sorted((root / gpu).glob(_spec(family)["table"]))]
    return pl.concat([t.filter(pl.col("dropped").is_null()).drop("dropped", "table_dtype", "device") for t in tables])


def _table(path: Path, family: str, root: Path) -> pl.DataFrame:
    """One file with the schema's names and, in `dropped`, why a row is not used, or null."""
    import polars as pl

    spec, source = _spec(family), path.relative_to(root).as_posix()
    columns = ["framework", "version", "device", "kernel_source", spec["dtype"], *spec["fields"], "latency"]
    try:
        stored = pl.read_parquet(path, columns=columns)
    except (pl.exceptions.PolarsError, OSError) as wrong:
        raise FileFormatError(f"{source}: not a table with the columns {', '.join(columns)} ({wrong})") from None
    time_s = pl.col("latency") * spec["unit_s"]
    named = stored.rename({spec["dtype"]: "table_dtype"}).with_columns(
        time_s.alias("time_s"),
        pl.col("framework").str.to_lowercase().alias("engine"),
        *(pl.lit(v).alias(name) for name, v in {"gpu": source.split("/")[0], "family": family, "source": source}.items()),
    )
    _check_unit(named, spec["fastest_s"], source)
    return _reasons(_kernels(_formats(named, spec), family), spec).drop("framework", "latency")


def _check_unit(table: pl.DataFrame, fastest_s: list[float], source: str) -> None:
    import polars as pl

    least = table.filter(pl.col("time_s") > 0)["time_s"].min()
    if least is not None and not fastest_s[0] <= float(least) <= fastest_s[1]:  # type: ignore[arg-type]
        raise FileFormatError(
            f"{source}: latency should be in milliseconds, but then the fastest row takes {least:.3g} s; "
            f"the fastest kernel of a table takes {fastest_s[0]:.1g} to {fastest_s[1]:.1g} s"
        )


def _formats(table: pl.DataFrame, spec: Mapping[str, Any]) -> pl.DataFrame:
    """Adds `dtype`, the format that calls know, or null where there is none."""
    import polars as pl

    dtype = pl.col("table_dtype").replace_strict(_rules()["dtypes"], default=None, return_dtype=pl.String)
    for rule in spec.get("relabel", []):
        dtype = pl.when(_matches(rule)).then(pl.lit(rule["dtype"])).otherwise(dtype)
    return table.with_columns(dtype.alias("dtype"))


def _kernels(table: pl.DataFrame, family: str) -> pl.DataFrame:
    """Adds `kernel`, the canonical name of the row's kernel source, or null where there is none."""
    pairs = table.select("kernel_source", "dtype").unique()
    known = [from_source(family, name, DType(dtype)) if name and dtype else None for name, dtype in pairs.iter_rows()]
    import polars as pl

    named = pairs.with_columns(pl.Series("kernel", known, dtype=pl.String))
    return table.join(named, on=["kernel_source", "dtype"], how="left", nulls_equal=True, maintain_order="left")


def _reasons(table: pl.DataFrame, spec: Mapping[str, Any]) -> pl.DataFrame:
    """Adds `dropped`: the first reason that applies, else null."""
    import polars as pl

    devices = [d for d in _rules()["devices"].get(table["gpu"][0], [])] if len(table) else []
    tests: list[tuple[pl.Expr, str]] = [(_matches(rule), rule["reason"]) for rule in spec.get("drop", [])]
    tests += [
        (~pl.col("device").is_in(devices), _OTHER_DEVICE),
        (~(pl.col("time_s").is_finite() & (pl.col("time_s") > 0)).fill_null(False), _NO_TIME),
        (pl.col("dtype").is_null(), _NO_FORMAT),
        (pl.col("kernel").is_null(), _NO_KERNEL),
    ]
    return table.with_columns(
        pl.coalesce(pl.when(test).then(pl.lit(reason)) for test, reason in tests).alias("dropped")
    )


def _matches(rule: Mapping[str, Any]) -> pl.Expr:
    import polars as pl

    return pl.all_horizontal(pl.col(name).is_in(rule[name]) for name in _RULE_COLUMNS if name in rule)


def _rows(table: pl.DataFrame, family: str) -> Rows:
    parts = table.partition_by(*_TEXT, as_dict=True)
    return Rows.join([_merged(parts[label], label, family) for label in sorted(parts)])


def _merged(part: pl.DataFrame, label: Iterable[Any], family: str) -> Rows:
    """Rows of one label, measurements of one shape merged: the median, and how far they lie apart."""
    import polars as pl

    names, time = _spec(family)["fields"], pl.col("time_s")
    shapes = part.group_by(names).agg(
        time.median(), ((time.max() - time.min()) / 2 / time.median()).alias("spread"), pl.len().alias("samples")
    )
    shapes = shapes.sort(names)
    size, text = len(shapes), dict(zip(_TEXT, label, strict=True))
    column = {name: np.full(size, value, dtype=object) for name, value in text.items()}
    numbers = {name: shapes[name].to_numpy() for name in names}
    return Rows(
        fields=numbers | {"batch": np.ones(size, dtype=np.int64), "dtype": column.pop("dtype")},
        time_s=shapes["time_s"].to_numpy(),
        spread=shapes["spread"].to_numpy(),
        samples=shapes["samples"].to_numpy(),
        is_test=_IS_TEST[family](numbers["n"], numbers["k"]),
        **column,
    )


def rows(family: str = "gemm", gpus_only: Iterable[str] | None = None, root: Path | None = None) -> Iterator[Rows]:
    """The rows of one GPU after the other, so that only one is in memory."""
    for gpu in gpus(family, root) if gpus_only is None else gpus_only:
        yield read(gpu, family, root)


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _spec(family: str) -> dict[str, Any]:
    found = _rules().get(family)
    if family not in _IS_TEST or found is None:
        raise UnknownNameError.among("measured family", family, _IS_TEST)
    return dict(found)
