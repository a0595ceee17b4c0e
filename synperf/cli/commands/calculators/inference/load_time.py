"""Tell how long a model takes to load until it can answer, part by part.

For example: synperf load-time --bytes 140GB --link pcie4 --disk 6GB/s --jit-kernels 100
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.load_time import load_time as calculate
from .....errors import FieldError, named
from .....hardware.links import link as of_name
from .....report.calculators import load_time as report
from ....calculated import show_drawn
from ....option_names import as_options
from ....output_options import AsJson, Svg
from ....quantities import quantity, quantity_or_none

_OPTIONS = {
    "weights_bytes": "bytes",
    "link_bytes_per_s": "bandwidth",
    "disk_bytes_per_s": "disk",
    "host_alloc_s": "host-alloc",
    "graph_s": "graph",
    "jit_s_per_kernel": "jit-time",
    "activations_bytes": "activations",
}

GOES_WITH = {"jit_kernels": ("jit_time",)}


def load_time(
    bytes_: Annotated[str, typer.Option("--bytes", metavar="SIZE", help="of the weights, e.g. 140GB")],
    link: Annotated[
        str | None, typer.Option(metavar="NAME", help="from host memory to the GPU: pcie3, pcie4, pcie5, ...")
    ] = None,
    bandwidth: Annotated[str | None, typer.Option(metavar="RATE", help="its rate instead, e.g. 16GB/s")] = None,
    disk: Annotated[str | None, typer.Option(metavar="RATE", help="of the disk; left out: weights in memory")] = None,
    host_alloc: Annotated[str, typer.Option(metavar="TIME", help="to allocate (pin) host memory")] = "0s",
    graph: Annotated[str, typer.Option(metavar="TIME", help="to optimise or capture graphs")] = "0s",
    jit_kernels: Annotated[int, typer.Option(metavar="N", help="kernels compiled from PTX at the start")] = 0,
    jit_time: Annotated[str, typer.Option(metavar="TIME", help="of one of them, 10 to 100 ms")] = "50ms",
    instances: Annotated[int, typer.Option(metavar="N", help="on this GPU")] = 1,
    activations: Annotated[str, typer.Option(metavar="SIZE", help="that each instance has for itself")] = "0B",
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    with as_options(**_OPTIONS):
        found = calculate(
            weights_bytes=quantity("bytes", bytes_, "B"),
            link_bytes_per_s=_rate(link, bandwidth),
            disk_bytes_per_s=quantity_or_none("disk", disk, "B/s"),
            host_alloc_s=quantity("host-alloc", host_alloc, "s"),
            graph_s=quantity("graph", graph, "s"),
            jit_kernels=jit_kernels,
            jit_s_per_kernel=quantity("jit-time", jit_time, "s"),
            instances=instances,
            activations_bytes=quantity("activations", activations, "B"),
        )
    show_drawn(found, report, as_json, svg)


def _rate(link: str | None, bandwidth: str | None) -> float:
    if (link is None) == (bandwidth is None):
        raise FieldError("link: give one of --link NAME, such as pcie5, and --bandwidth RATE, such as 16GB/s")
    if bandwidth is not None:
        return quantity("bandwidth", bandwidth, "B/s")
    with named("link"):
        return of_name(link or "").bytes_per_s
