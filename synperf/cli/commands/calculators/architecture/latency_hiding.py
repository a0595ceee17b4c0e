"""Tell how many bytes, threads and loads have to be in flight so that the latency of memory is hidden.

For example: synperf latency-hiding --gpu a100_sxm
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.latency_hiding import latency_hiding as calculate
from .....report.calculators import latency_hiding as report
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts


def latency_hiding(
    gpu: GpuName = None,
    changes: Changes = None,
    level: Annotated[str, typer.Option(metavar="NAME", help="of the memory: dram, l2 or shared")] = "dram",
    latency_cycles: Annotated[
        float | None, typer.Option(metavar="N", help="of a load; else as measured on such a GPU")
    ] = None,
    latency_s: Annotated[str | None, typer.Option(metavar="TIME", help="the same as a time: 330ns")] = None,
    bandwidth: Annotated[str | None, typer.Option(metavar="RATE", help="of the level: 2039GB/s; else its peak")] = None,
    bytes_per_load: Annotated[int, typer.Option(metavar="N", help="of one load of a thread")] = 16,
    loads: Annotated[int, typer.Option(metavar="N", help="independent loads of a thread that wait together")] = 1,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="resident on an SM; else as many as it holds")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        device(gpu, changes),
        level=level,
        latency_cycles=latency_cycles,
        **amounts(latency_s=latency_s, bandwidth=bandwidth),
        bytes_per_load=bytes_per_load,
        loads=loads,
        threads=threads,
    )
    show_drawn(found, report, as_json, svg)
