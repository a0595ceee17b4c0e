"""Tell where the time of a profiler's trace went: busy, exposed, idle and why; steps, kernels, collectives, findings.

For example: synperf analyze rank0.json.gz rank1.json.gz
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ...analysis import analyze as asked
from ...report import analysis as report
from ..bars import stages
from ..output_options import AsJson
from ..show import show


def analyze(
    traces: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="a trace, or one of each rank; its content says what it is")
    ],
    as_json: AsJson = False,
) -> None:
    with stages() as told:
        found = asked(traces, progress=told, workers=os.cpu_count() or 1)
    show(as_json, lambda: report.to_dict(found), lambda: report.to_text(found))
