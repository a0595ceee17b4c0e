"""Decide whether to fuse a chain of operators, or to merge small kernels that run side by side.

For example: synperf fusion --chain conv,bn,relu --elements 67108864 --dtype fp32 --gpu a100_sxm --head-time 200us
--threads 1024 --registers 32
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.fusion import fusion as calculate
from .....calculators.horizontal_fusion import horizontal_fusion
from .....errors import FieldError
from .....report.calculators import fusion as report
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....number_lists import numbers
from ....option_names import as_options
from ....output_options import AsJson, Svg
from ....quantities import quantity_or_none

GOES_WITH = {"tiles": ("slots",), "registers": ("threads", "shared_bytes", "registers_after")}
NOT_WITH = {"tiles": ("elements", "dtype", "head_time", "threads", "registers", "registers_after", "shared_bytes")}


def fusion(
    chain: Annotated[
        str | None, typer.Option(metavar="LIST", help="operators, first to last: conv,bn,relu or gemm,bias,gelu")
    ] = None,
    elements: Annotated[int, typer.Option(metavar="N", help="of the result")] = 1 << 24,
    dtype: Annotated[str, typer.Option(metavar="FORMAT", help="of every element that is read or written")] = "bf16",
    gpu: GpuName = None,
    changes: Changes = None,
    head_time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="of the convolution or GEMM at the head, as `synperf predict` tells it"),
    ] = None,
    threads: Annotated[int, typer.Option(metavar="N", help="of a CTA")] = 256,
    registers: Annotated[int | None, typer.Option(metavar="N", help="of a thread, before anything is fused")] = None,
    registers_after: Annotated[
        int | None, typer.Option(metavar="N", help="of the fused kernel, as its compiler says; counted if left out")
    ] = None,
    shared_bytes: Annotated[int, typer.Option(metavar="N", help="of a CTA")] = 0,
    tiles: Annotated[
        str | None, typer.Option(metavar="LIST", help="of kernels side by side, instead of a chain: 16,16,16,16")
    ] = None,
    slots: Annotated[
        int | None, typer.Option(metavar="N", help="CTAs that run at once; one for each SM of --gpu if left out")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    if (chain is None) == (tiles is None):
        raise FieldError("chain: give one of --chain, e.g. conv,bn,relu, and --tiles, e.g. 16,16,16,16")
    found_on = None if gpu is None else device(gpu, changes)
    if tiles is not None:
        if slots is None and found_on is None:
            raise FieldError("slots: none given; right would be --slots N, or --gpu NAME for one CTA on each SM")
        room = slots if found_on is None or slots is not None else found_on.num_sms
        show_drawn(horizontal_fusion(numbers("tiles", tiles), slots=room), report, as_json, svg)  # type: ignore[arg-type]
        return
    head_s = quantity_or_none("head-time", head_time, "s")
    with as_options(head_s="head-time"):
        found = calculate(
            [one.strip() for one in (chain or "").split(",")],
            elements=elements,
            dtype=dtype,
            gpu=found_on,
            head_s=head_s,
            threads=threads,
            registers=registers,
            registers_after=registers_after,
            shared_bytes=shared_bytes,
        )
    show_drawn(found, report, as_json, svg)
