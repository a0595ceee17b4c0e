"""Tell what launching many short kernels costs, and what a CUDA graph, streams and a persistent kernel save.

For example: synperf launch --kernels 1000 --kernel-s 2us --launch-s 5us
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.launch import launch as calculate
from .....report.calculators import launch as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list, amounts


def launch(
    kernel_s: Annotated[str, typer.Option(metavar="LIST", help="time of each kernel, in order: 2us or 2us,30us")],
    kernels: Annotated[int | None, typer.Option(metavar="N", help="how many; the list is repeated")] = None,
    launch_s: Annotated[str, typer.Option(metavar="TIME", help="of the host for one launch, 2 to 5 us")] = "5us",
    graph_launch_s: Annotated[
        str | None, typer.Option(metavar="TIME", help="of the host for a whole graph; else that of a kernel")
    ] = None,
    streams: Annotated[int, typer.Option(metavar="N", help="with a host thread each")] = 2,
    gpu_share: Annotated[float, typer.Option(metavar="SHARE", help="of the GPU that one kernel fills")] = 1.0,
    barrier_s: Annotated[str, typer.Option(metavar="TIME", help="across the grid of a persistent kernel")] = "0",
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    times = amounts(launch_s=launch_s, graph_launch_s=graph_launch_s, barrier_s=barrier_s)
    found = calculate(
        kernel_s=amount_list("kernel_s", kernel_s) or (),
        kernels=kernels,
        launch_s=times["launch_s"] or 0.0,
        graph_launch_s=times["graph_launch_s"],
        streams=streams,
        gpu_share=gpu_share,
        barrier_s=times["barrier_s"] or 0.0,
    )
    show_drawn(found, report, as_json, svg)
