"""Tell what Nsight Compute calls a metric of nvprof, and the other way round.

For example: synperf metric gld_efficiency
"""

from __future__ import annotations

from typing import Annotated

import typer

from ...analysis import ncu_metrics
from ...report import metrics as report
from ..arguments import AsJson
from ..show import show


def metric(
    name: Annotated[str, typer.Argument(metavar="NAME", help="of nvprof or of Nsight Compute")],
    as_json: AsJson = False,
) -> None:
    found = ncu_metrics.named(name)
    show(as_json, lambda: report.to_dict(found), lambda: report.to_text(found))
