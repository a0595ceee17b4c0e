"""Tell how many instructions of a warp have to be independent so that its scheduler never waits for results.

For example: synperf ilp --pipe-latency-cycles 4 --warps-per-scheduler 1
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.ilp import ilp as calculate
from .....report.calculators import ilp as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg


def ilp(
    pipe_latency_cycles: Annotated[float, typer.Option(metavar="N", help="until a result can be used: 4 of FMA")],
    warps_per_scheduler: Annotated[int, typer.Option(metavar="N", help="resident warps of an SM / 4")],
    issue_per_clk: Annotated[float, typer.Option(metavar="X", help="instructions issued to that pipe in a clock")] = 1,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        pipe_latency_cycles=pipe_latency_cycles, warps_per_scheduler=warps_per_scheduler, issue_per_clk=issue_per_clk
    )
    show_drawn(found, report, as_json, svg)
