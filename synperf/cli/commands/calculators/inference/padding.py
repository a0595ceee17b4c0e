"""Tell what padding sequences to common lengths wastes, by every strategy.

For example: synperf padding --lengths 10,20,30,40,50,60,70,80,90,100 --strategy fixed
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.padding import padding as calculate
from .....report.calculators import padding as report
from ....calculated import show_drawn
from ....number_lists import numbers
from ....output_options import AsJson, Svg


def padding(
    lengths: Annotated[str, typer.Option(metavar="LIST", help="tokens of each sequence: 10,20,30, or a file of them")],
    strategy: Annotated[str, typer.Option(metavar="NAME", help="fixed, buckets, dynamic or packed")] = "fixed",
    buckets: Annotated[str, typer.Option(metavar="N|LIST", help="how many buckets, or where each ends")] = "3",
    edges: Annotated[str, typer.Option(metavar="HOW", help="of N buckets: optimal or equal widths")] = "optimal",
    cost: Annotated[
        str, typer.Option(metavar="KIND", help="what optimal buckets cost least of: linear (tokens) or quadratic")
    ] = "linear",
    batch: Annotated[int, typer.Option(metavar="N", help="sequences of a dynamic batch")] = 2,
    order: Annotated[
        str,
        typer.Option(
            metavar="ORDER", help="of dynamic batches: sorted, given, random or drawn (the last two expected)"
        ),
    ] = "sorted",
    capacity: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="what fixed pads to; the longest where it is left out")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    ends = numbers("buckets", buckets)
    found = calculate(
        numbers("lengths", lengths),  # type: ignore[arg-type]
        strategy=strategy,
        buckets=ends if "," in buckets or len(ends) > 1 else ends[0],  # type: ignore[arg-type]
        batch=batch,
        order=order,
        edges=edges,
        cost=cost,
        capacity=capacity,
    )
    show_drawn(found, report, as_json, svg)
