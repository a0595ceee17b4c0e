"""Kernels over rows of one length, as PyTorch runs them eagerly: one launch, or as many as `library` says."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import layer_norm, rms_norm

from ..source import Source
from ..timed import Fields, Made, Timed, Value

_ROWS = tuple(4**i for i in range(10))
_DIMS = (128, 512, 1024, 2048, 4096, 5120, 8192, 16384)
_FORMATS = ("fp32", "fp16", "bf16")
_EPSILON = 1e-6


def _eager(run: Callable[[], object], launches: int = 1) -> Made:
    return Made(run=run, library="aten" if launches == 1 else f"aten, {launches} launches")


def _sizes(f: Fields) -> tuple[int, int, str]:
    return f["rows"], f["dim"], f["dtype"]


def _rmsnorm(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x, weight = source.random(rows, dim, dtype=dtype), source.random(dim, dtype=dtype)
    source.written(rows, dim, dtype=dtype)
    return _eager(lambda: rms_norm(x, (dim,), weight, _EPSILON))


def _layernorm(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x = source.random(rows, dim, dtype=dtype)
    weight, bias = (source.random(dim, dtype=dtype) for _ in range(2))
    source.written(rows, dim, dtype=dtype)
    return _eager(lambda: layer_norm(x, (dim,), weight, bias, _EPSILON))


def _softmax(f: Fields, source: Source) -> Made:
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


def _rope(f: Fields, source: Source) -> Made:
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


def _copy(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows, dim, dtype=dtype)
    return _eager(lambda: out.copy_(x))


def _quantize(f: Fields, source: Source) -> Made:
    """The conversion alone, at a scale of one that nobody has to find."""
    rows, dim, dtype = _sizes(f)
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows, dim, dtype=f["quant_dtype"])
    return _eager(lambda: out.copy_(x))


def _reduction(f: Fields, source: Source) -> Made:
    rows, dim, dtype = _sizes(f)
    axis = f["axis"]
    x, out = source.random(rows, dim, dtype=dtype), source.empty(rows if axis else dim, dtype=dtype)
    return _eager(lambda: torch.sum(x, axis, out=out))


def _of_rows(name: str, make: Callable[[Fields, Source], Made], **others: tuple[Value, ...]) -> Timed:
    grid = {"rows": _ROWS, "dim": _DIMS, **others}
    return Timed(name=name, grid=grid, formats=_FORMATS, make=make, fixed=tuple(others))


TIMED = (
    _of_rows("rmsnorm", _rmsnorm),
    _of_rows("layernorm", _layernorm),
    _of_rows("softmax", _softmax),
    _of_rows("silu_mul", _gated(torch.ops.aten.silu.out)),
    _of_rows("gelu_mul", _gated(_gelu)),
    Timed(
        name="rope",
        grid={"rows": _ROWS, "dim": (64, 128, 256)},
        formats=_FORMATS,
        make=_rope,
        keep=lambda f: bool(f["dim"] % 2 == 0),
        rule="an even dim",
    ),
    _of_rows("copy", _copy),
    _of_rows("quantize", _quantize, quant_dtype=("fp8", "int8")),
    _of_rows("reduction", _reduction, axis=(1, 0)),
)
