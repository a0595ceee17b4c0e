"""What fewer bits give on a GPU: math by its rates, memory by bytes, and where rounding the activations pays.

Math-bound work gains the ratio of the rates, memory-bound work the ratio of the bytes. A GEMM whose activations are
rounded in a pass of their own reads and writes them once more; with `n` columns of weights it gains where
`n >= (b_from + b_to) / (2 * bandwidth * (1 / rate_from - 1 / rate_to))` if math bounds it, whatever m and k; if
weights bound it, up to `m <= n * (b_from - b_to) / (b_from + b_to)` rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import GPU, DType
from ..kernels.fields import MOST_ELEMENTS, dtype_of
from ..models import Model, Plan, kv_bytes_per_token, weights_bytes
from ..models.formats import planned
from ..units import format_quantity
from .amounts import count as counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """`compute_speedup` is of rates, `memory_speedup` of stored bytes; bytes are of all parameters, and of a token.

    `break_even_n` is None where the rates do not differ. With scales, a value takes more than its bits.
    """

    gpu: str
    before: DType
    after: DType
    rate_before_flop_per_s: float
    rate_after_flop_per_s: float
    compute_speedup: float
    memory_speedup: float
    break_even_n: float | None
    weights_bytes_before: float | None
    weights_bytes_after: float | None
    kv_bytes_per_token_before: float | None
    kv_bytes_per_token_after: float | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def quantization(
    gpu: GPU, *, before: DType | str, after: DType | str, parameters: int | None = None, model: Model | None = None
) -> Quantization:
    """What `after` gives over `before` on a GPU, and to `parameters` or the weights and cache of a model.

    The cache of a model is told in a format of the same width where weights alone are narrow: as bf16.

    Raises:
        FieldError: no such format, one that this GPU does not multiply, or both parameters and a model.
    """
    first, second = dtype_of("from", before), dtype_of("to", after)
    rates = _rate(gpu, "from", first), _rate(gpu, "to", second)
    if parameters is not None and model is not None:
        raise FieldError("parameters: give either them or a model, which has its own")
    stored = first.bytes, second.bytes
    moved = first.activations.bytes, second.activations.bytes
    gain = 1 / rates[0] - 1 / rates[1]
    turns_at = (moved[0] + moved[1]) / (2 * gpu.dram_bytes_per_s * gain) if gain > 0 and moved[0] > moved[1] else None
    weights = _weights(first, second, parameters, model)
    cache = _cache(first, second, model)
    compute, memory = rates[1] / rates[0], stored[0] / stored[1]
    return Quantization(
        gpu=gpu.key,
        before=first,
        after=second,
        rate_before_flop_per_s=rates[0],
        rate_after_flop_per_s=rates[1],
        compute_speedup=compute,
        memory_speedup=memory,
        break_even_n=turns_at,
        weights_bytes_before=weights[0],
        weights_bytes_after=weights[1],
        kv_bytes_per_token_before=cache[0],
        kv_bytes_per_token_after=cache[1],
        why=_why(gpu, (first, second), rates, stored),
        advice=_advice((first, second), compute, memory, turns_at),
    )


def _rate(gpu: GPU, name: str, dtype: DType) -> float:
    if dtype.rate not in gpu.dtypes() and dtype.activations not in gpu.dtypes():
        raise FieldError(
            f"{name}: {gpu.key} does not multiply {dtype}; right would be one of {', '.join(gpu.dtypes())}"
        )
    return gpu.peak_flop_per_s(dtype)


def _weights(
    before: DType, after: DType, parameters: int | None, model: Model | None
) -> tuple[float | None, float | None]:
    if model is not None:
        return weights_bytes(model, Plan(dtype=before)), weights_bytes(model, Plan(dtype=after))
    if parameters is None:
        return None, None
    count = counted("parameters", parameters, MOST_ELEMENTS)
    return count * before.bytes, count * after.bytes


def _cache(before: DType, after: DType, model: Model | None) -> tuple[float | None, float | None]:
    if model is None:
        return None, None
    first, second = (
        kv_bytes_per_token(planned(model, Plan(dtype=one, kv_dtype=_cached(one)))) for one in (before, after)
    )
    return first, second


def _cached(dtype: DType) -> DType:
    """The format in which engines keep the cache beside weights of this one: one byte where these have no more."""
    return DType.FP8 if dtype.bytes <= 1 and not dtype.is_mixed else DType.BF16


def _why(
    gpu: GPU, names: tuple[DType, DType], rates: tuple[float, float], stored: tuple[float, float]
) -> tuple[str, ...]:
    peaks = [f"{one} at {format_quantity(rate, 'FLOP/s')}" for one, rate in zip(names, rates, strict=True)]
    return (
        f"math-bound work: {gpu.key} multiplies {peaks[0]} and {peaks[1]} (dense), {rates[1] / rates[0]:.3g} times",
        f"memory-bound work: {stored[0]:g} bytes a value become {stored[1]:g}, {stored[0] / stored[1]:.3g} times less",
    )


def _advice(names: tuple[DType, DType], compute: float, memory: float, turns_at: float | None) -> tuple[str, ...]:
    said = []
    if compute <= 1:
        said.append(f"{names[1]} multiplies no faster here: only work that memory bounds gains (decode, small batches)")
    if turns_at is not None:
        said.append(
            f"activations rounded in a pass of their own pay from n = {turns_at:,.0f} columns on where math bounds the "
            "GEMM; fuse the rounding into the kernel before it below that"
        )
    if memory <= 1:
        said.append("no bytes are saved")
    return tuple(said) or (f"decode gains {memory:.3g} times, prefill up to {compute:.3g}",)
