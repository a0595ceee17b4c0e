"""Tell how often values of a product or a convolution are used, and what tiles of it move and hold.

For example: synperf reuse --gpu a100_sxm --op gemm,m=1024,n=1024,k=1024,dtype=fp32 --tile 32 --tile 64 --tile 128
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.operators.asked import parse
from .....calculators.reuse import STAGES, TILES
from .....calculators.reuse import reuse as calculate
from .....errors import FieldError
from .....report.calculators import reuse as report
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

_TILE = "64, 128x256 or, with the step along k, 128x128x64; may be repeated"


def reuse(
    fields: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="fields of --op")] = None,
    gpu: GpuName = None,
    changes: Changes = None,
    op: Annotated[str | None, typer.Option(metavar="NAME,KEY=VALUE,...", help="gemm or conv")] = None,
    tile: Annotated[list[str] | None, typer.Option(metavar="TILE", help=_TILE)] = None,
    stages: Annotated[int, typer.Option(metavar="N", help="buffers of operands in shared memory")] = STAGES,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    if op is None:
        raise FieldError("op: none given; right would be gemm,m=1024,n=1024,k=1024, or conv")
    on = device(gpu, changes)
    _, call = parse(op, fields or ())
    show_drawn(calculate(on, call, tile or TILES, stages), report, as_json, svg)
