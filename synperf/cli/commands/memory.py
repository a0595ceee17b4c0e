"""Tell what a model takes of the memory of each GPU, and how many tokens fit beside its weights.

For example: synperf memory Llama-3.1-70B --gpu h100_sxm --tp 4 --seq 8192 --batch 16
"""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import FieldError, named
from ...hardware import DType
from ...kernels.fields import dtype_of
from ...models import Plan
from ...models import model as of_name
from ...report import memory as report
from ...serving.memory import UTILIZATION
from ...serving.memory import memory as calculate
from ...units import parse_quantity
from ..arguments import AsJson, Changes, GpuName, device
from ..show import show


def memory(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="a name of the catalog, a config.json, or its folder")],
    gpu: GpuName = None,
    changes: Changes = None,
    dtype: Annotated[str | None, typer.Option(metavar="NAME", help="of weights; else that of the checkpoint")] = None,
    kv_dtype: Annotated[str | None, typer.Option(metavar="NAME", help="of the cache, e.g. fp8")] = None,
    tp: Annotated[int, typer.Option(metavar="N", help="GPUs that share every layer")] = 1,
    pp: Annotated[int, typer.Option(metavar="N", help="stages that share the layers")] = 1,
    ep: Annotated[int, typer.Option(metavar="N", help="groups of GPUs that hold other experts")] = 1,
    dp: Annotated[int, typer.Option(metavar="N", help="groups of --tp GPUs that share the requests")] = 1,
    seq: Annotated[int | None, typer.Option(metavar="TOKENS", help="length of a request")] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", help="requests of that length at once")] = None,
    utilization: Annotated[
        float, typer.Option(metavar="SHARE", help="of the memory that an engine may take")
    ] = UTILIZATION,
    activations_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", help="what activations take, e.g. 2GB")
    ] = None,
    as_json: AsJson = False,
) -> None:
    if batch is not None and seq is None:
        raise FieldError("seq: none given; right would be --seq TOKENS, the length of each of the --batch requests")
    found = device(gpu, changes)
    with named("model"):
        described = of_name(model)
    with named("activations-bytes"):
        activations = None if activations_bytes is None else parse_quantity(activations_bytes, "B")
    plan = Plan(tp=tp, pp=pp, ep=ep, dp=dp, dtype=_format("dtype", dtype), kv_dtype=_format("kv-dtype", kv_dtype))
    answer = calculate(
        described, found, plan, seq=seq, batch=batch, utilization=utilization, activations_bytes=activations
    )
    show(as_json, lambda: report.to_dict(answer), lambda: report.to_text(answer))


def _format(option: str, name: str | None) -> DType | None:
    return None if name is None else dtype_of(option, name)
