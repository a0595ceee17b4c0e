"""Tell what the cache of keys and values takes of a token and a request, and how many fit a budget.

For example: synperf kv-cache --layers 28 --kv-heads 4 --head-dim 128 --heads 28 --tokens 3072
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.kv_cache import Budget, Layers, grouped, latent, of_model
from .....calculators.kv_cache import kv_cache as calculate
from .....errors import FieldError, named
from .....models import model as of_name
from .....report.calculators import kv_cache as report
from ....arguments import one_gpu
from ....calculated import show_drawn
from ....named_values import whole_number
from ....option_names import as_options
from ....output_options import AsJson, Svg
from ....quantities import quantity

_OPTIONS = {
    "dtype": "kv-dtype",
    "total_bytes": "total",
    "peak_bytes": "peak",
    "other_bytes": "other",
    "max_tokens": "max-model-len",
}

_NUMBERS = ("layers", "kv_heads", "head_dim", "v_head_dim", "heads", "kv_lora_rank", "rope_dim")
GOES_WITH = {"total gpu": ("utilization", "other", "peak", "max_model_len"), "kv_lora_rank": ("rope_dim",)}
NOT_WITH = {"model": _NUMBERS, "total": ("gpu",), "kv_lora_rank": ("kv_heads", "head_dim", "v_head_dim", "heads")}


def kv_cache(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="a model, instead of its numbers")] = None,
    layers: Annotated[int | None, typer.Option(metavar="N", help="that keep a cache")] = None,
    kv_heads: Annotated[int | None, typer.Option(metavar="N", help="of keys and values")] = None,
    head_dim: Annotated[int | None, typer.Option(metavar="N", help="of a key")] = None,
    v_head_dim: Annotated[int | None, typer.Option(metavar="N", help="of a value; as a key where left out")] = None,
    heads: Annotated[int | None, typer.Option(metavar="N", help="of queries, to compare with")] = None,
    kv_lora_rank: Annotated[int | None, typer.Option(metavar="N", help="of latent attention (MLA)")] = None,
    rope_dim: Annotated[int, typer.Option(metavar="N", help="of its rotated key")] = 64,
    kv_dtype: Annotated[str, typer.Option(metavar="FORMAT", help="of the cache: bf16, fp8")] = "bf16",
    tp: Annotated[int, typer.Option(metavar="N", help="ranks that share the heads")] = 1,
    tokens: Annotated[int | None, typer.Option(metavar="N", help="of a request")] = None,
    block_tokens: Annotated[int, typer.Option(metavar="N", help="of a block of the cache")] = 16,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help="whose memory is the budget")] = None,
    total: Annotated[str | None, typer.Option(metavar="SIZE", help="of that memory, as the log prints it")] = None,
    utilization: Annotated[float, typer.Option(metavar="SHARE", help="that the engine may take")] = 0.9,
    peak: Annotated[
        str | None, typer.Option(metavar="SIZES", help="of the profiling run (weights, activations): one or a list")
    ] = None,
    other: Annotated[str, typer.Option(metavar="SIZE", help="that is not the engine's: context, NCCL")] = "0B",
    max_model_len: Annotated[str | None, typer.Option(metavar="LIST", help="tokens that a request may have")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    with as_options(**_OPTIONS):
        found = calculate(
            _layers(model, layers, kv_heads, head_dim, v_head_dim, heads, kv_lora_rank, rope_dim),
            dtype=kv_dtype,
            tp=tp,
            tokens=tokens,
            block_tokens=block_tokens,
            budgets=_budgets(gpu, total, utilization, peak, other, max_model_len),
        )
    show_drawn(found, report, as_json, svg)


def _layers(
    model: str | None, layers: int | None, kv_heads: int | None, head_dim: int | None, v_head_dim: int | None,
    heads: int | None, kv_lora_rank: int | None, rope_dim: int,
) -> tuple[Layers, ...]:  # fmt: skip
    given = {"layers": layers, "kv-heads": kv_heads, "head-dim": head_dim, "kv-lora-rank": kv_lora_rank}
    if model is not None:
        with named("model"):
            return of_model(of_name(model))
    if layers is not None and kv_lora_rank is not None:
        return latent(layers=layers, kv_lora_rank=kv_lora_rank, rope_dim=rope_dim)
    if layers is None or kv_heads is None or head_dim is None:
        missing = next(name for name, value in given.items() if value is None)
        raise FieldError(f"{missing}: none given; right would be a model, or --layers, --kv-heads and --head-dim")
    return grouped(layers=layers, kv_heads=kv_heads, head_dim=head_dim, v_head_dim=v_head_dim, heads=heads)


def _budgets(
    gpu: str | None, total: str | None, utilization: float, peak: str | None, other: str, max_model_len: str | None
) -> tuple[Budget, ...]:
    if gpu is None and total is None:
        return ()
    room = one_gpu("gpu", gpu or "").dram_bytes if total is None else quantity("total", total, "B")
    if peak is None:
        beside = "gpu" if total is None else "total"
        raise FieldError(f"peak: none given beside {beside}; right would be --peak SIZE, of weights and activations")
    peaks = [quantity("peak", one, "B") for one in peak.split(",")]
    limits = (
        [None] if max_model_len is None else [whole_number("max-model-len", one) for one in max_model_len.split(",")]
    )
    if len(peaks) != len(limits) and 1 not in (len(peaks), len(limits)):
        raise FieldError(f"max-model-len: {len(limits)} lengths for {len(peaks)} peaks; right would be as many, or one")
    count = max(len(peaks), len(limits))
    return tuple(
        Budget(
            total_bytes=room,
            peak_bytes=peaks[at % len(peaks)],
            utilization=utilization,
            other_bytes=quantity("other", other, "B"),
            max_tokens=limits[at % len(limits)],
        )
        for at in range(count)
    )
