"""Tell whether it pays to compress gradients before they are sent.

For example: synperf compression --bytes 100MB --bandwidth 10GB/s --ratio 4 --codec-s 8ms
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.compression import compression as calculate
from .....report.calculators import compression as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts


def compression(
    bytes: Annotated[str, typer.Option(metavar="SIZE", help="that are sent, e.g. 100MB")],
    bandwidth: Annotated[str, typer.Option(metavar="RATE", help="of the link in one direction, e.g. 10GB/s")],
    ratio: Annotated[float, typer.Option(metavar="X", help="size before over size after")],
    codec_s: Annotated[str, typer.Option(metavar="TIME", help="of compressing and decompressing")] = "0",
    ranks: Annotated[
        int | None, typer.Option(metavar="N", help="the bytes are the buffer of an all-reduce of so many")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(**amounts(bytes=bytes, bandwidth=bandwidth, codec_s=codec_s), ratio=ratio, ranks=ranks)
    show_drawn(found, report, as_json, svg)
