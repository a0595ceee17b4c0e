"""Kernels over rows of one length, as PyTorch runs them eagerly: one launch, or as many as `library` says."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import layer_norm, rms_norm

from ..source import Source
from ..timed import Fields, Made

_EPSILON = 1e-6


def _eager(run: Callable[[], object], launches: int = 1) -> Made:
    return Made(run=run, library="aten" if launches == 1 else f"aten, {launches} launches")


def _sizes(f: Fields) -> tuple[int, int, str]:
    return f["rows"], f["dim"], f["dtype"]


def rmsnorm(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x, weight = source.random(rows, dim, dtype=dtype), source.random(dim, dtype=dtype)
    source.written(rows, dim, dtype=dtype)
    return _eager(lambda: rms_norm(x, (dim,), weight, _EPSILON))


def layernorm(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x = source.random(rows, dim, dtype=dtype)
    weight, bias = (source.random(dim, dtype=dtype) for _ in range(2))
    source.written(rows, dim, dtype=dtype)
    return _eager(lambda: layer_norm(x, (dim,), weight, bias, _EPSILON))


def softmax(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows, dim, dtype=dtype)
    return _eager(lambda: torch.softmax(x, -1, out=out))


def _gated(activation: Callable[..., object]) -> Callable[[Fields, Source], Made]:
    """activation(gate) * up, the two halves of each row, in two launches."""

    def make(f: Fields, source: Source) -> Made:
        rows, dim, dtype = _sizes(f)
        gate, up = source.random(rows, 2 * dim, dtype=dtype).chunk(2, dim=1)
        out = source.empty(rows, dim, dtype=dtype)

        def run() -> None:
            activation(gate, out=out)
            out.mul_(up)

        return _eager(run, launches=2)

    return make


def _gelu(gate: torch.Tensor, out: torch.Tensor) -> object:
    return torch.ops.aten.gelu.out(gate, approximate="tanh", out=out)


def rope(f: Fields, source: Source) -> Made:
    """Both halves of every row turned by the angles of its position."""
    rows, dim, dtype = _sizes(f)
    half = dim // 2
    x1, x2 = source.random(rows, dim, dtype=dtype).chunk(2, dim=1)
    cos, sin = (source.random(rows, half, dtype=dtype) for _ in range(2))
    out1, out2 = source.empty(rows, dim, dtype=dtype).chunk(2, dim=1)

    def run() -> None:
        torch.mul(x1, cos, out=out1)
        out1.addcmul_(x2, sin, value=-1)
        torch.mul(x2, cos, out=out2)
        out2.addcmul_(x1, sin)

    return _eager(run, launches=4)


def copy(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows, dim, dtype=dtype)
    return _eager(lambda: out.copy_(x))


def quantize(f: Fields, source: Source) -> Made:
    """The conversion alone, at a scale of one that nobody has to find."""
    rows, dim, dtype = _sizes(f)
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows, dim, dtype=f["quant_dtype"])
    return _eager(lambda: out.copy_(x))


def reduction(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    axis = f["axis"]
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows if axis else dim, dtype=dtype)
    return _eager(lambda: torch.sum(x, axis, out=out))


silu_mul = _gated(torch.ops.aten.silu.out)
gelu_mul = _gated(_gelu)
