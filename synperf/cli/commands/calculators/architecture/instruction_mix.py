"""Tell which pipe of an SM is the limit of a mix of instructions, and how well a measured time uses each.

For example: synperf instruction-mix --gpu h100_sxm --tensor-flop 512 --xu-op 1
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.instruction_mix import instruction_mix as calculate
from .....kernels.fields import dtype_of
from .....report.calculators import instruction_mix as report
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts


def instruction_mix(
    gpu: GpuName = None,
    changes: Changes = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="of what the tensor cores multiply")] = "bf16",
    tensor_flop: Annotated[str, typer.Option(metavar="N", help="FLOP of tensor cores; a multiply-add is two")] = "0",
    fma_flop: Annotated[str, typer.Option(metavar="N", help="FP32 FLOP of the other lanes")] = "0",
    xu_op: Annotated[str, typer.Option(metavar="N", help="exp, log, sin, rcp and rsqrt, of one lane each")] = "0",
    shared_bytes: Annotated[str, typer.Option(metavar="SIZE", help="read from and written to shared memory")] = "0",
    instructions: Annotated[str, typer.Option(metavar="N", help="of warps, all that were issued")] = "0",
    took_s: Annotated[
        str | None, typer.Option(metavar="TIME", help="measured, of the whole kernel that was counted: 0.55ms")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    counted = amounts(
        tensor_flop=tensor_flop, fma_flop=fma_flop, xu_op=xu_op, shared_bytes=shared_bytes, instructions=instructions
    )
    found = calculate(
        device(gpu, changes),
        dtype=dtype_of("dtype", dtype),
        **{name: amount or 0.0 for name, amount in counted.items()},
        took_s=amounts(took_s=took_s)["took_s"],
    )
    show_drawn(found, report, as_json, svg)
