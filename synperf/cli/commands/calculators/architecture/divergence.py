"""Tell what a branch costs whose paths the lanes of a warp do not all take.

For example: synperf divergence --paths 100,10 --lanes 16,16
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.divergence import divergence as calculate
from .....report.calculators import divergence as report
from ....arguments import GpuName
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list
from ....sm import Capability, sm_or_none


def divergence(
    paths: Annotated[str, typer.Option(metavar="LIST", help="cycles of each path: 100,10; 0 for an else without code")],
    lanes: Annotated[str, typer.Option(metavar="LIST", help="lanes of a warp that take each path: 16,16")],
    gpu: GpuName = None,
    cc: Capability = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(amount_list("paths", paths) or (), amount_list("lanes", lanes) or (), sm_or_none(gpu, cc))
    show_drawn(found, report, as_json, svg)
