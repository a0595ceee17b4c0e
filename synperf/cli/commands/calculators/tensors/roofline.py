"""Tell which side of the ridge operators are on, and the least time that their FLOP and bytes take.

For example: synperf roofline --gpu h100_sxm --op gemm,m=4096,n=4096,k=4096 --op gemm,m=16,n=4096,k=4096
--op rmsnorm,rows=4096,dim=4096
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.operators.asked import Work, parse, work
from .....calculators.roofline import given
from .....calculators.roofline import roofline as calculate
from .....errors import FieldError, named
from .....hardware import GPU
from .....kernels.fields import dtype_of
from .....report.calculators import roofline as report
from .....units import parse_quantity
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

_OP = "a family of `synperf kernels`, or rnn gru lstm conv1d conv3d conv_transpose batchnorm pool; may be repeated"
_ACHIEVED = "FLOP/s that were measured, e.g. 75TFLOP/s; once for each operator"

GOES_WITH = {"flop moved": ("dtype",)}


def roofline(
    fields: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="fields of every --op")] = None,
    gpu: GpuName = None,
    changes: Changes = None,
    op: Annotated[list[str] | None, typer.Option(metavar="NAME,KEY=VALUE,...", help=_OP)] = None,
    flop: Annotated[str | None, typer.Option(metavar="N", help="in the place of --op, with --bytes")] = None,
    moved: Annotated[str | None, typer.Option("--bytes", metavar="SIZE", help="that DRAM moves")] = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="that --flop are computed in")] = "bf16",
    achieved: Annotated[list[str] | None, typer.Option(metavar="RATE", help=_ACHIEVED)] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    on = device(gpu, changes)
    works = [*_of_ops(op, fields, on), *_of_numbers(flop, moved, dtype)]
    with named("achieved"):
        rates = [parse_quantity(text, "FLOP/s") for text in achieved or ()]
    show_drawn(calculate(on, works, rates), report, as_json, svg)


def _of_ops(ops: list[str] | None, fields: list[str] | None, on: GPU) -> list[Work]:
    if fields and not ops:
        raise FieldError(f"op: none given for {fields[0][:60]!r}; right would be --op NAME before it")
    calls = [parse(text, fields or ()) for text in ops or ()]
    return [work(call, on, name) for name, call in calls]


def _of_numbers(flop: str | None, moved: str | None, dtype: str) -> list[Work]:
    if flop is None and moved is None:
        return []
    if flop is None or moved is None:
        missing = "flop" if flop is None else "bytes"
        raise FieldError(f"{missing}: none given; right would be --flop N and --bytes SIZE")
    with named("flop"):
        many = parse_quantity(flop, "FLOP")
    with named("bytes"):
        size = parse_quantity(moved, "B")
    return [given(many, size, dtype_of("dtype", dtype))]
