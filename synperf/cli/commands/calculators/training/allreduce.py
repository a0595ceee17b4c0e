"""Tell how long an all-reduce takes by each algorithm, and from which size on a ring is faster than a tree.

For example: synperf allreduce --bytes 1MB --ranks 8 --latency-s 5us --bandwidth 100GB/s
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.allreduce import allreduce as calculate
from .....report.calculators import allreduce as report
from ....arguments import GpuName, one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list, amounts


def allreduce(
    bytes: Annotated[str, typer.Option(metavar="SIZE", help="the buffer of a rank, e.g. 25MB")],
    ranks: Annotated[int, typer.Option(metavar="N", help="GPUs that take part")],
    latency_s: Annotated[str | None, typer.Option(metavar="TIME", help="of a step, e.g. 5us")] = None,
    bandwidth: Annotated[
        str | None, typer.Option(metavar="RATE", help="of a rank in one direction, e.g. 100GB/s")
    ] = None,
    nodes: Annotated[int | None, typer.Option(metavar="N", help="on which the ranks are spread evenly")] = None,
    network_latency_s: Annotated[str | None, typer.Option(metavar="TIME", help="of a step between nodes")] = None,
    network_bandwidth: Annotated[str | None, typer.Option(metavar="RATE", help="of a rank between nodes")] = None,
    gpu: GpuName = None,
    link: Annotated[str | None, typer.Option(metavar="NAME", help="of GPUs in a node, e.g. nvlink_bridge")] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="between nodes, e.g. infiniband_ndr")] = None,
    busbw: Annotated[
        str | None, typer.Option(metavar="RATE,...", help="as nccl-tests printed it: what it means")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        **amounts(
            bytes=bytes,
            latency_s=latency_s,
            bandwidth=bandwidth,
            network_latency_s=network_latency_s,
            network_bandwidth=network_bandwidth,
        ),
        ranks=ranks,
        nodes=nodes,
        gpu=None if gpu is None else one_gpu("gpu", gpu),
        link=link,
        network=network,
        busbw=amount_list("busbw", busbw) or (),
    )
    show_drawn(found, report, as_json, svg)
