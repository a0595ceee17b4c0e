"""Parquet files of published measurements: what their formats share. A format says how its columns become calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .. import hardware
from ..errors import FileFormatError
from ..hardware.names import resolve
from ..kernels.fields import MAX_EXTENT
from .audit import Reading
from .frames import NO_KERNEL, NO_TIME, audit, first_reason, is_timed, kept, rows, with_kernels
from .merging import label
from .schema import MAY_BE_ZERO, MOST, NUMBERS

NUMBER, TEXT, TRUTH = "numbers", "text", "true or false"
_TYPES = {TEXT: pl.String, TRUTH: pl.Boolean}
_NO_GPU = "the GPU is not in the catalog yet"
_NO_SIZE = f"a size is missing, or no whole number from 1 to {MAX_EXTENT}"
_IS_TEST_NAME = re.compile(r"(?<![a-z])test(?![a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One layout of a file: the columns that it is known by, what they hold, and how they become calls.

    `load(frame, name)` gives the columns device, engine, version, kernel_source, the family's labels and number fields,
    time_s, is_test, biased, and in `unusable` why the format itself does not use a row, or null.
    """

    families: tuple[str, ...]
    columns: Mapping[str, str]
    load: Callable[[pl.DataFrame, str], pl.DataFrame]
    is_own: Callable[[pl.DataFrame], bool] = lambda _: True  # where columns alone could be anybody's

    def matches(self, frame: pl.DataFrame) -> bool:
        """Whether a file has this layout."""
        return set(self.columns) <= set(frame.columns) and self.is_own(frame)


def is_test_name(name: str) -> bool:
    """Whether a file calls itself one of test rows: `linear_test.parquet`, not `latest.parquet`."""
    return _IS_TEST_NAME.search(Path(name).stem.lower()) is not None


def read(layout: Format, frame: pl.DataFrame, family: str, name: str) -> Reading:
    """The rows of a file that has this layout.

    Raises: as `table`.
    """
    found = table(layout, frame, family, name)
    used = kept([found])
    times = next(column for column in layout.columns if column.endswith(("_us", "_ms")))
    by_gpu = found.with_columns(part=pl.coalesce("gpu", "device", pl.lit("none"))).partition_by("part", as_dict=True)
    return Reading(
        rows=rows(used, family) if len(used) else None,
        audits=tuple(audit(by_gpu[key], family, name, key[0]) for key in sorted(by_gpu)),
        devices={key: hardware.gpu(key) for key in used["gpu"].unique()},
        times=times,
        unit=times.rpartition("_")[2],
    )


def table(layout: Format, frame: pl.DataFrame, family: str, name: str) -> pl.DataFrame:
    """The rows of a file with the schema's names and, in `dropped`, why a row is not used, or null.

    Raises:
        FileFormatError: a column holds something else than it should.
    """
    _check_types(layout, frame, name)
    try:
        loaded = layout.load(frame, name)
    except pl.exceptions.PolarsError as wrong:
        raise FileFormatError(f"{name}: its columns do not hold what they should ({wrong})") from None
    named = with_kernels(_with_gpus(loaded), family)
    sizes = [pl.col(size).cast(pl.Int64, strict=False) for size in NUMBERS[family]]
    return (
        named.with_columns(_dropped(family), pl.lit(family).alias("family"), pl.lit(name).alias("source"))
        .with_columns(sizes)
        .select("device", *label(family), *NUMBERS[family], "time_s", "is_test", "biased", "dropped")
    )


def _check_types(layout: Format, frame: pl.DataFrame, name: str) -> None:
    for column, kind in layout.columns.items():
        held = frame.schema[column]
        if not (held.is_numeric() if kind == NUMBER else held == _TYPES[kind]):
            raise FileFormatError(f"{name}: column {column} holds {held}; right would be {kind}")


def _with_gpus(loaded: pl.DataFrame) -> pl.DataFrame:
    keys = {device: resolve(device)[0] or None for device in loaded["device"].unique().drop_nulls()}
    return loaded.with_columns(pl.col("device").replace_strict(keys, default=None, return_dtype=pl.String).alias("gpu"))


def _dropped(family: str) -> pl.Expr:
    """The format's own reason, else the first that applies to a row, else null."""
    missing = pl.any_horizontal(~_is_size(size) for size in NUMBERS[family])
    tests = [
        (missing, _NO_SIZE),
        (pl.col("gpu").is_null(), _NO_GPU),
        (~is_timed(), NO_TIME),
        (pl.col("kernel").is_null(), NO_KERNEL),
    ]
    return pl.coalesce("unusable", first_reason(tests)).alias("dropped")


def _is_size(name: str) -> pl.Expr:
    column, least = pl.col(name), 0 if name in MAY_BE_ZERO else 1
    return ((column >= least) & (column <= MOST.get(name, MAX_EXTENT)) & (column == column.floor())).fill_null(False)
