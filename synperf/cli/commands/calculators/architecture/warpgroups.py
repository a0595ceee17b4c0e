"""Tell whether warpgroups that hand registers to each other (setmaxnreg) find them, or wait for ever.

For example: synperf warpgroups 40,232,232 24,240,240 24,24,240,240 24,240,240,240 --gpu h100_sxm
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.warpgroups import warpgroups as calculate
from .....report.calculators import warpgroups as report
from ....arguments import Changes, GpuName
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list
from ....sm import Capability, sm_of


def warpgroups(
    layouts: Annotated[
        list[str], typer.Argument(metavar="N,N,...", help="registers of a thread in each warpgroup of a CTA")
    ],
    gpu: GpuName = None,
    cc: Capability = None,
    changes: Changes = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    registers = [amount_list(f"layout[{at}]", one) or () for at, one in enumerate(layouts)]
    show_drawn(calculate(sm_of(gpu, cc, changes), registers), report, as_json, svg)
