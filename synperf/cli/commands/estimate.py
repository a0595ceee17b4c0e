"""Estimate what requests see of a model on GPUs under a load: TTFT, TPOT, throughput, and where the time goes.

For example: synperf estimate Qwen/Qwen3-32B --gpu h100_sxm --tp 2 --isl 4096 --osl 512 --batch 8 --engine sglang
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import api
from ...errors import FieldError, named
from ...models import Plan
from ...models import model as of_name
from ...report import forecast as report
from ...serving.workload import ClosedLoop, OpenLoop, StaticBatch, Workload
from ..arguments import (
    AsJson,
    CacheFormat,
    Changes,
    Dp,
    Ep,
    GpuName,
    ModelName,
    Origin,
    Pp,
    Tp,
    WeightsFormat,
    device,
    formats,
)  # fmt: skip
from ..show import show

_LOADS = ("batch", "batch-file", "concurrency", "request-rate", "workload")


def estimate(
    model: ModelName,
    gpu: GpuName = None,
    changes: Changes = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="vllm (the default), sglang, trtllm; torch and plain serve nobody"),
    ] = None,
    dtype: WeightsFormat = None,
    kv_dtype: CacheFormat = None,
    tp: Tp = 1,
    pp: Pp = 1,
    ep: Ep = 1,
    dp: Dp = 1,
    link: Annotated[str | None, typer.Option(metavar="NAME", help="what joins GPUs of a node, e.g. pcie4_host")] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="what joins nodes, e.g. infiniband_ndr")] = None,
    isl: Annotated[int | None, typer.Option(metavar="TOKENS", help="of a prompt")] = None,
    osl: Annotated[int | None, typer.Option(metavar="TOKENS", help="of an answer; 1 by default")] = None,
    cached: Annotated[int, typer.Option(metavar="TOKENS", help="of each prompt that are in the cache already")] = 0,
    batch: Annotated[int | None, typer.Option(metavar="N", help="so many requests at once, and no other")] = None,
    batch_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help='the same from JSON: {"requests": [{"isl": 1024, "osl": 128}]}')
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="clients that each send the next request after the answer")
    ] = None,
    request_rate: Annotated[float | None, typer.Option(metavar="R", help="requests per second, at random")] = None,
    workload: Annotated[
        Path | None, typer.Option(metavar="FILE", help="requests with arrived_at_s, isl, osl (CSV, JSON, parquet)")
    ] = None,
    num_requests: Annotated[
        int | None, typer.Option(metavar="N", help="of all clients, 10 for each by default; of a rate, 1000")
    ] = None,
    length_spread: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="lengths are so many times nominal: 0.8,1.0 by default")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="what `synperf fit-engine` wrote for your servers")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--engine-version", metavar="NAME", help="of the engine, where several were measured")
    ] = None,
    origin: Origin = None,
    as_json: AsJson = False,
) -> None:
    found = device(gpu, changes)
    with named("model"):
        described = of_name(model)
    plan = Plan(tp=tp, pp=pp, ep=ep, dp=dp, engine=engine, link=link, network=network, **formats(dtype, kv_dtype))
    given = {"batch": batch, "batch-file": batch_file, "concurrency": concurrency, "request-rate": request_rate,
             "workload": workload}  # fmt: skip
    lengths = {"isl": isl, "osl": osl}
    drawn = {"num_requests": num_requests, "length_spread": _spread(length_spread)}
    load = _load({name: value for name, value in given.items() if value is not None}, lengths, drawn, cached)
    answer = api.estimate(described, plan, load, found, origin=origin, calibration=calibration, version=version)
    show(as_json, lambda: report.to_dict(answer), lambda: report.to_text(answer))


def _load(
    given: Mapping[str, Any], lengths: Mapping[str, int | None], drawn: Mapping[str, Any], cached: int
) -> Workload:
    """The one kind of load that options describe; a batch of one where they name none.

    Raises:
        FieldError: they name several, or one that lacks lengths or has them in its file.
    """
    if len(given) > 1:
        raise FieldError(f"{' and '.join(given)}: one load at a time; right would be one of --{', --'.join(_LOADS)}")
    name, value = next(iter(given.items())) if given else ("batch", 1)
    extra = {key: one for key, one in drawn.items() if one is not None}
    if name in ("batch", "batch-file", "workload") and extra:
        raise FieldError(f"{next(iter(extra)).replace('_', '-')}: it is for --concurrency and --request-rate")
    if name in ("batch-file", "workload"):
        for key, one in (*lengths.items(), ("cached", cached or None)):
            if one is not None:
                raise FieldError(f"{key}: the requests of --{name} have their own; right would be none")
        from ...serving import request_files  # other loads need no tables

        read = request_files.static_batch if name == "batch-file" else request_files.trace
        return read(str(value))
    if lengths["isl"] is None:
        raise FieldError("isl: none given; right would be --isl TOKENS, the length of a prompt")
    sizes: dict[str, object] = {
        "isl": lengths["isl"],
        "osl": 1 if lengths["osl"] is None else lengths["osl"],
        "cached": cached,
    }
    if name == "batch":
        return StaticBatch.alike(value, **sizes)
    if name == "concurrency":
        return ClosedLoop(concurrency=value, **sizes, **extra)  # type: ignore[arg-type]  # checked by the class
    return OpenLoop(request_rate=value, **sizes, **extra)  # type: ignore[arg-type]  # checked by the class


def _spread(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(text.split(","))
