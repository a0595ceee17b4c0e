"""Tell which tool shows a bottleneck, where to look in it, and what profiling costs.

For example: synperf profiling dram --gpu a100_sxm --kernels 100 --kernel-s 50us --passes 40 --written-bytes 16MB
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.profiling import Replay, replayed
from .....calculators.profiling import profiling as calculate
from .....errors import FieldError
from .....report.calculators import profiling as report
from ....arguments import GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts

GOES_WITH = {"kernel_s passes": ("kernels", "written_bytes", "gpu")}


def profiling(
    bottleneck: Annotated[
        str | None, typer.Argument(metavar="[BOTTLENECK]", help="dram, launch, data, ...; all, if left out")
    ] = None,
    passes: Annotated[
        int | None, typer.Option(metavar="N", help="of counters, as Nsight Compute prints them for a kernel")
    ] = None,
    kernel_s: Annotated[str | None, typer.Option(metavar="TIME", help="of one kernel that is profiled: 50us")] = None,
    kernels: Annotated[int, typer.Option(metavar="N", help="that are profiled")] = 1,
    written_bytes: Annotated[str, typer.Option(metavar="SIZE", help="that a kernel writes: 16MB")] = "0",
    gpu: GpuName = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    times = amounts(kernel_s=kernel_s, written_bytes=written_bytes)
    replay = _replay(passes, times["kernel_s"], kernels, times["written_bytes"] or 0.0, gpu)
    show_drawn(calculate(bottleneck, replay), report, as_json, svg)


def _replay(
    passes: int | None, kernel_s: float | None, kernels: int, written_bytes: float, gpu: str | None
) -> Replay | None:
    if passes is None and kernel_s is None:
        return None
    if passes is None or kernel_s is None:
        missing = "passes" if passes is None else "kernel_s"
        raise FieldError(f"{missing}: none given; right would be --{missing.replace('_', '-')} beside the other")
    return replayed(device(gpu, None), passes=passes, kernel_s=kernel_s, kernels=kernels, written_bytes=written_bytes)
