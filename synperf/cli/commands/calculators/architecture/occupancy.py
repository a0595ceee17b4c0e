"""Tell how many CTAs of a kernel an SM holds at once, what stops it, and the smallest change that gives more.

For example: synperf occupancy --gpu a100_sxm --threads 256 --registers 33 --sweep registers
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.occupancy import occupancy as calculate
from .....calculators.sm import Limits
from .....report.calculators import occupancy as report
from ....arguments import Changes, GpuName
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts
from ....sm import Capability, sm_of


def occupancy(
    threads: Annotated[int, typer.Option(metavar="N", help="of a CTA")],
    registers: Annotated[int, typer.Option(metavar="N", help="of a thread, as ptxas -v prints them")],
    shared_bytes: Annotated[str, typer.Option(metavar="SIZE", help="of a CTA, static and dynamic: 49152, 48KiB")] = "0",
    gpu: GpuName = None,
    cc: Capability = None,
    changes: Changes = None,
    carveout_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", help="shared memory that the SM is set to; the most, if left out")
    ] = None,
    cluster: Annotated[int | None, typer.Option(metavar="N", help="CTAs of a cluster")] = None,
    sweep: Annotated[
        str | None, typer.Option(metavar="FIELD", help="every value of threads, registers or shared_bytes")
    ] = None,
    textbook: Annotated[bool, typer.Option("--textbook", help="divide alone, without units and reserve")] = False,
    sm_threads: Annotated[int | None, typer.Option(metavar="N", help="most threads of an SM of your own")] = None,
    sm_blocks: Annotated[int | None, typer.Option(metavar="N", help="its most CTAs")] = None,
    sm_registers: Annotated[int | None, typer.Option(metavar="N", help="its registers")] = None,
    sm_shared_bytes: Annotated[str | None, typer.Option(metavar="SIZE", help="its shared memory")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    given = amounts(shared_bytes=shared_bytes, carveout_bytes=carveout_bytes, sm_shared_bytes=sm_shared_bytes)
    limits = Limits(
        sm_threads=sm_threads, sm_blocks=sm_blocks, sm_registers=sm_registers, sm_shared_bytes=given["sm_shared_bytes"]
    )
    found = calculate(
        sm_of(gpu, cc, changes, limits),
        threads=threads,
        registers=registers,
        shared_bytes=given["shared_bytes"] or 0,
        carveout_bytes=given["carveout_bytes"],
        cluster=cluster,
        sweep=None if sweep is None else sweep.replace("-", "_"),
        textbook=textbook,
    )
    show_drawn(found, report, as_json, svg)
