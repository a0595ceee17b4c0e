"""Fit an engine's factors to serving points that you measured: mean TTFT and TPOT of closed loops of clients.

For example: synperf fit-engine points.csv --out mine.json, then synperf estimate ... --calibration mine.json

Columns: model, gpu, engine, concurrency, isl, osl, ttft_ms, tpot_ms; and dtype, tp, pp, dp, ep, version where they are
not the usual ones. One point of a model helps. Errors after the fit are of points that were left out of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import FieldError
from ..arguments import AsJson
from ..bars import counted
from ..show import text_of


def fit_engine(
    rows: Annotated[Path | None, typer.Argument(metavar="ROWS", help="measured points: .csv, .jsonl, .parquet")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write the factors, as JSON")] = None,
    as_json: AsJson = False,
) -> None:
    if rows is None:
        raise FieldError("rows: none given; right would be a file of measured serving points")
    from ...measurements import serving_rows  # --help needs none of them
    from ...report import own_stack as report
    from ...serving.stack_file import to_json
    from ...tables.outfile import replacing, require_other, require_place, write_text
    from ...training.own_stack import fit_own

    if out is not None:
        require_other("out", out, {"rows": rows})
        require_place("out", out)
    points = serving_rows.read(rows)
    with counted("points", len(points)) as told:
        found = fit_own(points, told)
    shown = text_of(as_json, lambda: report.to_dict(found), lambda: report.to_text(found))
    if out is not None:
        with replacing("out", out) as part:
            write_text(part, to_json(found.file))
    print(shown)
