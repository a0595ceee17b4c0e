"""Tell what fewer bits give on a GPU, and what a tensor loses by them.

For example: synperf quantization --gpu a100_sxm --from fp16 --to int8 --parameters 7e9
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .....calculators.quantization import quantization as calculate
from .....calculators.quantization_error import quantization_error
from .....calculators.tensor_files import read_tensor
from .....errors import FieldError, named
from .....models import model as of_name
from .....report.calculators import quantization as report
from ....arguments import Changes, GpuName, device
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import quantity

GOES_WITH = {
    "tensor": ("name", "format", "scheme", "group", "axis", "percentile"),
    "after": ("gpu", "changes", "before", "parameters", "model"),
}


def quantization(
    gpu: GpuName = None,
    changes: Changes = None,
    before: Annotated[str, typer.Option("--from", metavar="FORMAT", help="of weights and math now")] = "bf16",
    after: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="fp8, int8, nvfp4, int4, ...")] = None,
    parameters: Annotated[str | None, typer.Option(metavar="N", help="to tell the bytes of, e.g. 70e9")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="whose weights and cache to tell instead")] = None,
    tensor: Annotated[str | None, typer.Option(metavar="FILE", help=".npy or .safetensors, to be rounded")] = None,
    name: Annotated[str | None, typer.Option(metavar="KEY", help="which tensor of a .safetensors file")] = None,
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="int8, int4, fp8_e4m3, fp8_e5m2 or fp4_e2m1, to round the tensor to")
    ] = "int8",
    scheme: Annotated[str, typer.Option(metavar="SCHEME", help="a scale for each tensor, channel or group")] = "tensor",
    group: Annotated[int, typer.Option(metavar="N", help="values of a group")] = 128,
    axis: Annotated[int, typer.Option(metavar="N", help="of the channels")] = 0,
    percentile: Annotated[float, typer.Option(metavar="P", help="of magnitudes, where a range ends")] = 100.0,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    if after is None and tensor is None:
        raise FieldError("to: none given; right would be --gpu NAME --to FORMAT, or --tensor FILE, or both")
    error = None
    if tensor is not None:
        with named("tensor"):
            error = quantization_error(
                read_tensor(Path(tensor), name),
                format=format,
                scheme=scheme,
                group=group,
                axis=axis,
                percentile=percentile,
            )
    speed = None
    if after is not None:
        with named("model"):
            described = None if model is None else of_name(model)
        count = None if parameters is None else quantity("parameters", parameters, "")
        speed = calculate(device(gpu, changes), before=before, after=after, parameters=count, model=described)  # type: ignore[arg-type]
    show_drawn(report.Both(speed, error), report, as_json, svg)
