"""Tell where images lie in NCHW, NHWC and NCHWc, what a conversion costs, and which layout to keep.

For example: synperf layout --batch 1 --channels 64 --height 56 --width 56 --dtype fp16 --gpu a100_sxm --block 8
--gain 0.2us --uses 50
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.layout import layout as calculate
from .....errors import FieldError, named
from .....report.calculators import layout as report
from .....units import parse_quantity
from ....arguments import one_gpu
from ....calculated import show_drawn
from ....option_names import as_options
from ....output_options import AsJson, Svg

_FRAMEWORK = "pytorch, onnx, tensorflow or jax, whose layout images are in"

GOES_WITH = {"gain": ("uses",)}


def layout(
    batch: Annotated[int, typer.Option(metavar="N", help="images")],
    channels: Annotated[int, typer.Option(metavar="C", help="of an image")],
    height: Annotated[int, typer.Option(metavar="H", help="rows of an image")],
    width: Annotated[int, typer.Option(metavar="W", help="columns of an image")],
    dtype: Annotated[str, typer.Option(metavar="NAME", help="of a value")] = "fp16",
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help="a name from `synperf gpus`, or a TOML file")] = None,
    cpu: Annotated[str | None, typer.Option(metavar="NAME", help="in its place: avx512, avx2 or neon")] = None,
    source: Annotated[
        str | None, typer.Option("--layout", metavar="NAME", help="images are in: nchw, nhwc or nchwc")
    ] = None,
    target: Annotated[str | None, typer.Option("--to", metavar="NAME", help="else what the hardware prefers")] = None,
    block: Annotated[int | None, typer.Option(metavar="N", help="channels of a block; else those of a vector")] = None,
    at: Annotated[str, typer.Option(metavar="n,c,h,w", help="the value whose place is told")] = "0,0,0,0",
    gain: Annotated[str | None, typer.Option(metavar="TIME", help="that a use wins by --to, e.g. 5us")] = None,
    uses: Annotated[int | None, typer.Option(metavar="N", help="of the converted images")] = None,
    framework: Annotated[str | None, typer.Option(metavar="NAME", help=_FRAMEWORK)] = None,
    depthwise_share: Annotated[float, typer.Option(metavar="SHARE", help="of FLOP in depthwise layers")] = 0.0,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    with named("gain"):
        gain_s = None if gain is None else parse_quantity(gain, "s")
    with as_options(source="layout", target="to", point="at"):
        found = calculate(
            batch=batch,
            channels=channels,
            height=height,
            width=width,
            dtype=dtype,
            gpu=None if gpu is None else one_gpu("gpu", gpu),
            cpu=cpu,
            source=source,
            target=target,
            block=block,
            point=_point(at),
            gain_s=gain_s,
            uses=uses,
            framework=framework,
            depthwise_share=depthwise_share,
        )
    show_drawn(found, report, as_json, svg)


def _point(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise FieldError(f"at must be n,c,h,w, such as 0,3,10,10, got {text[:60]!r}") from None
