"""Tell whether grids of CTAs may be launched, what to change if not, and how they fill a GPU.

For example: synperf grid 1,65535,1 1,65536,1 65536,1,1 --gpu a100_sxm --ctas-per-sm 8
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.grid import grid as calculate
from .....report.calculators import grid as report
from ....arguments import Changes, GpuName
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list
from ....sm import Capability, sm_of


def grid(
    grids: Annotated[list[str], typer.Argument(metavar="X,Y,Z...", help="CTAs along each axis")],
    gpu: GpuName = None,
    cc: Capability = None,
    changes: Changes = None,
    ctas_per_sm: Annotated[
        int | None, typer.Option(metavar="N", help="that an SM holds at once, as `synperf occupancy` says")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    axes = [amount_list(f"grid[{at}]", one) or () for at, one in enumerate(grids)]
    device = sm_of(gpu, cc, changes) if gpu or cc or changes else None
    found = calculate(device, axes, ctas_per_sm=ctas_per_sm)
    show_drawn(found, report, as_json, svg)
