"""Tell how many wavefronts an access to shared memory takes, and what takes conflicts of its banks away.

For example: synperf banks --rows 32 --pitch 32 --column 0
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.banks import banks as calculate
from .....report.calculators import banks as report
from ....accesses import Active, Cc, ElementBytes, Gpu, Stride, Vector, capability_of
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

_EXPRESSION = "bytes by an expression in lane, step and pitch, or a list such as 0,4,8"
_MATRICES = "read 1, 2 or 4 matrices of 8 rows of 16 bytes from the tile"


def banks(
    element_bytes: ElementBytes = 4,
    stride: Stride = None,
    vector: Vector = 1,
    rows: Annotated[int | None, typer.Option(metavar="N", help="of a tile, lane i in row i")] = None,
    pitch: Annotated[int | None, typer.Option(metavar="N", help="elements from one row to the next")] = None,
    column: Annotated[int | None, typer.Option(metavar="N", help="of the tile, for all lanes; else 0")] = None,
    ldmatrix: Annotated[int | None, typer.Option(metavar="N", help=_MATRICES)] = None,
    addresses: Annotated[str | None, typer.Option(metavar="EXPR", help=_EXPRESSION)] = None,
    active: Active = None,
    steps: Annotated[int, typer.Option(metavar="N", help="instructions, one for each value of step")] = 1,
    gpu: Gpu = None,
    cc: Cc = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(
        element_bytes=element_bytes,
        stride=stride,
        vector=vector,
        rows=rows,
        pitch=pitch,
        column=column,
        ldmatrix=ldmatrix,
        addresses=addresses,
        active=active,
        steps=steps,
        **capability_of(gpu, cc),
    )
    show_drawn(found, report, as_json, svg)
