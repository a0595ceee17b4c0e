"""Tell to which multiples the extents of a product are padded for tensor cores, and what that wastes.

For example: synperf alignment --m 4096 --n 4096 --k 1001 --dtype fp16 --gpu a100_sxm
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.alignment import alignment as calculate
from .....errors import FieldError
from .....report.calculators import alignment as report
from ....arguments import one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

_GPU = "a name from `synperf gpus`, or a TOML file; else any from A100 on"


def alignment(
    m: Annotated[int | None, typer.Option(metavar="N", help="rows of A and of C")] = None,
    n: Annotated[int | None, typer.Option(metavar="N", help="columns of B and of C")] = None,
    k: Annotated[int | None, typer.Option(metavar="N", help="columns of A, rows of B")] = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="of the operands")] = "fp16",
    address: Annotated[str | None, typer.Option(metavar="N", help="where an operand begins, e.g. 0x1008")] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=_GPU)] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    extents = {name: value for name, value in (("m", m), ("n", n), ("k", k)) if value is not None}
    place = None if address is None else _whole(address)
    found = calculate(extents, dtype, None if gpu is None else one_gpu("gpu", gpu), place)
    show_drawn(found, report, as_json, svg)


def _whole(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise FieldError(f"address must be a whole number of bytes, such as 0x1008, got {text[:60]!r}") from None
