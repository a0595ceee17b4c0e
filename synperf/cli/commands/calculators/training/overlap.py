"""Tell how much of the communication of a training step its computation hides.

For example: synperf overlap --compute-s 150ms --comm-s 60ms --buckets 6 --backward-s 100ms
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.overlap import overlap as calculate
from .....report.calculators import overlap as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list, amounts

_LISTS = ("ready_s", "bucket_comm_s")
GOES_WITH = {"buckets": ("latency_s", "backward_s")}
NOT_WITH = {"overlap_s": ("buckets", *_LISTS), "buckets": _LISTS, "comm_s": _LISTS}


def overlap(
    compute_s: Annotated[str, typer.Option(metavar="TIME", help="of a step, without communication")],
    comm_s: Annotated[str | None, typer.Option(metavar="TIME", help="of all communication of a step")] = None,
    overlap_s: Annotated[str | None, typer.Option(metavar="TIME", help="how long both run at once")] = None,
    buckets: Annotated[int | None, typer.Option(metavar="N", help="equal parts of the gradients")] = None,
    backward_s: Annotated[
        str | None, typer.Option(metavar="TIME", help="the last part of --compute-s, in which gradients become ready")
    ] = None,
    latency_s: Annotated[str, typer.Option(metavar="TIME", help="that each bucket costs beside its bytes")] = "0",
    ready_s: Annotated[str | None, typer.Option(metavar="TIME,...", help="when each bucket is ready")] = None,
    bucket_comm_s: Annotated[str | None, typer.Option(metavar="TIME,...", help="how long each takes")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        **amounts(compute_s=compute_s, comm_s=comm_s, overlap_s=overlap_s, backward_s=backward_s, latency_s=latency_s),
        buckets=buckets,
        ready_s=amount_list("ready_s", ready_s),
        bucket_comm_s=amount_list("bucket_comm_s", bucket_comm_s),
    )
    show_drawn(found, report, as_json, svg)
