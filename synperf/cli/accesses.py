"""Options of calculators of accesses."""

from __future__ import annotations

from typing import Annotated

import typer

from ..calculators.lanes.request import nvidia
from .option_names import as_options
from .sm import sm_or_none

ElementBytes = Annotated[int, typer.Option(metavar="N", help="of one element: 1, 2, 4, 8 or 16")]
Vector = Annotated[int, typer.Option(metavar="N", help="elements of one access: 4 for float4")]
Stride = Annotated[int | None, typer.Option(metavar="N", help="accesses from one lane's to the next; else 1")]
Active = Annotated[
    str | None, typer.Option(metavar="LANES", help="16 for the first 16, 0-7,16 or a mask such as 0xff; else all")
]
Gpu = Annotated[str | None, typer.Option(metavar="NAME", help="a GPU of NVIDIA, whose compute capability counts")]
Cc = Annotated[str | None, typer.Option(metavar="X.Y", help="in the place of --gpu; else 9.0")]


def capability_of(gpu: str | None, cc: str | None) -> dict[str, str]:
    """The compute capability that options name, as an argument; none where they name none.

    Raises:
        FieldError: both are given.
        PerfError: there is no such GPU, or it is of another maker.
    """
    found = sm_or_none(gpu, cc)
    if found is None:
        return {}
    with as_options(cc="gpu" if gpu else "cc"):
        return {"cc": nvidia(found.key).key}
