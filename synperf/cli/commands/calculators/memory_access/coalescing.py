"""Tell how many sectors and lines of memory a warp touches, and how much of what moves it has asked for.

For example: synperf coalescing --element-bytes 4 --stride 2
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.coalescing import coalescing as calculate
from .....report.calculators import coalescing as report
from ....accesses import Active, Cc, ElementBytes, Gpu, Stride, Vector, capability_of
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

_EXPRESSION = "bytes by an expression in lane, warp, thread and pitch, or a list such as 0,4,8"


def coalescing(
    element_bytes: ElementBytes = 4,
    stride: Stride = None,
    offset: Annotated[int, typer.Option(metavar="N", help="elements before that of thread 0")] = 0,
    vector: Vector = 1,
    struct_bytes: Annotated[
        int | None, typer.Option(metavar="N", help="of a record of which one field is read")
    ] = None,
    walk: Annotated[str | None, typer.Option(metavar="WAY", help="lanes along a row, or down a column")] = None,
    pitch: Annotated[int | None, typer.Option(metavar="N", help="elements from one row to the next")] = None,
    addresses: Annotated[str | None, typer.Option(metavar="EXPR", help=_EXPRESSION)] = None,
    active: Active = None,
    warps: Annotated[int, typer.Option(metavar="N", help="that access one after the other, of 32 threads each")] = 1,
    store: Annotated[bool, typer.Option("--store", help="in the place of a load")] = False,
    granularity: Annotated[int, typer.Option(metavar="BYTES", help="32, or 128 as before Maxwell")] = 32,
    fetch_bytes: Annotated[int, typer.Option(metavar="BYTES", help="that L2 fetches at once: 32, 64 or 128")] = 64,
    gpu: Gpu = None,
    cc: Cc = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        element_bytes=element_bytes,
        stride=stride,
        offset=offset,
        vector=vector,
        struct_bytes=struct_bytes,
        walk=walk,
        pitch=pitch,
        addresses=addresses,
        active=active,
        warps=warps,
        store=store,
        granularity=granularity,
        fetch_bytes=fetch_bytes,
        **capability_of(gpu, cc),
    )
    show_drawn(found, report, as_json, svg)
