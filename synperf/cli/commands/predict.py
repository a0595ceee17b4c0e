"""Predict the time of one kernel, or of every row of a table, on a GPU.

One kernel: synperf predict gemm m=4096 n=4096 k=4096 --gpu h100_sxm

One collective: synperf predict all_reduce bytes=1048576 ranks=8 --gpu h100_sxm

A table: synperf predict --calls calls.csv --gpu h100_sxm --out out.csv

The columns of a table are family, the family's fields, and gpu where rows differ in it. Rows keep their order and their
text; the results are added as columns. Columns that are no field are kept as they are.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ... import api
from ...errors import FieldError
from ...report import estimates
from ..arguments import (
    AsJson,
    Calibration,
    Changes,
    Family,
    Fields,
    GpuName,
    Origin,
    Tiles,
    Weights,
    call,
    changing,
    device,
    distinct,
    one_gpu,
    tiles_of,
)
from ..show import show


def predict(
    family: Family = None,
    fields: Fields = None,
    gpu: GpuName = None,
    changes: Changes = None,
    origin: Origin = None,
    tile_profile: Tiles = None,
    calibration: Calibration = None,
    weights: Weights = None,
    calls: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="a table: .csv, .jsonl, .parquet, or - for CSV on standard input"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="where to write the table; without it, CSV on standard output"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    if calls is None:
        if out is not None:
            raise FieldError("out: it is for a table; right would be --calls FILE with it")
        one, gpu_object = call(family, fields), device(gpu, changes)
        estimate = api.predict(
            one, gpu_object, origin=origin, tiles=tiles_of(tile_profile), calibration=calibration, weights=weights
        )
        show(as_json, lambda: estimates.to_dict(one, estimate), lambda: estimates.to_text(one, gpu_object, estimate))
        return
    if fields:
        raise FieldError(f"{fields[0]!r}: a table has its own fields; right would be either --calls or KEY=VALUE")
    if as_json:
        raise FieldError("json: a table is not one document; right would be --out with a name that ends in .jsonl")
    if out is not None:
        from ...tables.outfile import require_other, require_place  # one call needs no tables

        read = {"tile-profile": tile_profile, "gpu": gpu, "calibration": calibration, "weights": weights}
        require_other("out", out, read)
        require_place("out", out)
    with changing():
        api.predict_file(
            calls, out, None if gpu is None else one_gpu("gpu", gpu), family=family, changes=distinct(changes),
            origin=origin, tiles=tiles_of(tile_profile), calibration=calibration, weights=weights,
        )  # fmt: skip
