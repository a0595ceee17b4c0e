"""Tell from the warps of a scheduler whether a kernel waits for latencies, and for which.

For example: synperf warp-states --active 8 --eligible 0.6 --issued 0.45 --stalls long_scoreboard=9,wait=3
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.warp_states import warp_states as calculate
from .....report.calculators import warp_states as report
from ....arguments import GpuName
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import named_amounts
from ....sm import Capability, sm_or_none


def warp_states(
    active: Annotated[float, typer.Option(metavar="X", help="resident warps of a scheduler")],
    eligible: Annotated[float, typer.Option(metavar="X", help="of these able to issue")],
    issued: Annotated[float, typer.Option(metavar="X", help="instructions issued in a cycle, up to 1")],
    stalls: Annotated[
        str | None, typer.Option(metavar="LIST", help="reasons of Nsight Compute: long_scoreboard=9,wait=3")
    ] = None,
    gpu: GpuName = None,
    cc: Capability = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        active=active, eligible=eligible, issued=issued, stalls=named_amounts("stalls", stalls), sm=sm_or_none(gpu, cc)
    )
    show_drawn(found, report, as_json, svg)
