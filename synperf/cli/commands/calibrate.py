"""Calibrate the estimates of a GPU on rows that you measured there: its sustained rates, and a correction per kernel.

What to measure: synperf calibrate --plan --gpu h100_sxm > rows.csv

With the times filled in: synperf calibrate rows.csv --gpu h100_sxm --out h100.json

Errors before and after are of rows that were left out of the fit; what is not surely better stays as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import FieldError, named
from ...hardware import GPU
from ...kernels import family as family_named
from ...kernels import name_of
from ...kernels.fields import dtype_of
from ..arguments import AsJson, GpuName, device
from ..show import notice, text_of


def calibrate(
    rows: Annotated[
        Path | None, typer.Argument(metavar="ROWS", help="measured rows: .csv, .jsonl or .parquet, as in measurements")
    ] = None,
    gpu: GpuName = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="family of the rows, or its .py file, where their column family does not say it"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write the calibration, as JSON")] = None,
    engine: Annotated[str | None, typer.Option(metavar="NAME", help="engine of rows that name none")] = None,
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="kernel of rows that name none")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="print the shapes to measure as CSV, and do nothing else")
    ] = False,
    dtype: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="format of the shapes of --plan: bf16, or fp16 on a GPU that has no bf16"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="of the split into rows to fit and to check")] = 0,
    as_json: AsJson = False,
) -> None:
    if plan:
        _plan({"rows": rows, "out": out, "json": as_json or None, "family": family}, device(gpu, None), dtype)
        return
    if rows is None:
        raise FieldError("rows: none given; right would be a file of measured rows, or --plan for what to measure")
    from ...measurements import family_in, read_file  # --help needs none of them
    from ...report import calibrations
    from ...tables.outfile import require_other, require_place
    from ...training.calibrate import fit_calibration, save

    if out is not None:
        require_other("out", out, {"rows": rows, "gpu": gpu, "family": family})
        require_place("out", out)
    one = device(gpu, None)
    with named("family"):
        kind = None if family is None else family_named(name_of(family)).name
    with named("rows"):
        kind = family_in(rows) if kind is None else kind
        measured = read_file(rows, kind, gpu=one, engine=engine, kernel=kernel)
    fit = fit_calibration(measured, one, seed=seed)
    shown = text_of(as_json, lambda: calibrations.to_dict(fit.file, one), lambda: calibrations.to_text(fit.file, one))
    if out is not None:
        save(fit, out)
    print(shown)


def _plan(others: dict[str, Any], gpu: GPU, asked: str | None) -> None:
    """Prints the shapes to measure, and says where their format is not the usual one; no other option goes with it."""
    from ...training.calibration_plan import FORMATS, plan_csv, plan_format

    for name, given in others.items():
        if given is not None:
            raise FieldError(
                f"{name}: it does not go with --plan, which prints CSV of GEMMs; right would be one of the two"
            )
    dtype = plan_format(gpu, None if asked is None else dtype_of("dtype", asked))
    text = plan_csv(gpu, dtype)
    if asked is None and dtype is not FORMATS[0]:
        notice(f"{gpu.name} has no {FORMATS[0]} math, so the shapes are in {dtype}; --dtype would name another format")
    print(text)
