"""Tell what a model takes of the memory of each GPU, and how many tokens fit beside its weights.

For example: synperf memory Llama-3.1-70B --gpu h100_sxm --tp 4 --seq 8192 --batch 16
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....errors import FieldError, named
from .....models import Plan
from .....models import model as of_name
from .....report.calculators import memory as report
from .....serving.memory import UTILIZATION
from .....serving.memory import memory as calculate
from .....units import parse_quantity
from ....arguments import (
    AsJson,
    CacheFormat,
    Changes,
    Dp,
    Ep,
    GpuName,
    ModelName,
    Pp,
    Tp,
    WeightsFormat,
    device,
    formats,
)  # fmt: skip
from ....calculated import show_drawn
from ....output_options import Svg


def memory(
    model: ModelName,
    gpu: GpuName = None,
    changes: Changes = None,
    dtype: WeightsFormat = None,
    kv_dtype: CacheFormat = None,
    tp: Tp = 1,
    pp: Pp = 1,
    ep: Ep = 1,
    dp: Dp = 1,
    seq: Annotated[int | None, typer.Option(metavar="TOKENS", help="length of a request")] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", help="requests of that length at once")] = None,
    utilization: Annotated[
        float, typer.Option(metavar="SHARE", help="of the memory that an engine may take")
    ] = UTILIZATION,
    activations_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", help="what activations take, e.g. 2GB")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    if batch is not None and seq is None:
        raise FieldError("seq: none given; right would be --seq TOKENS, the length of each of the --batch requests")
    found = device(gpu, changes)
    with named("model"):
        described = of_name(model)
    with named("activations-bytes"):
        activations = None if activations_bytes is None else parse_quantity(activations_bytes, "B")
    plan = Plan(tp=tp, pp=pp, ep=ep, dp=dp, **formats(dtype, kv_dtype))
    answer = calculate(
        described, found, plan, seq=seq, batch=batch, utilization=utilization, activations_bytes=activations
    )
    show_drawn(answer, report, as_json, svg)
