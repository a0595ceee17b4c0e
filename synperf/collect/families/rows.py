"""Kernels over rows of one length, as PyTorch runs them eagerly."""

from __future__ import annotations

from ..timed import Timed, Value, made_by

_ROWS = tuple(4**i for i in range(10))
_DIMS = (128, 512, 1024, 2048, 4096, 5120, 8192, 16384)
_FORMATS = ("fp32", "fp16", "bf16")


def _of_rows(name: str, **others: tuple[Value, ...]) -> Timed:
    grid = {"rows": _ROWS, "dim": _DIMS, **others}
    return Timed(name=name, grid=grid, formats=_FORMATS, make=made_by("rows", name), fixed=tuple(others))


TIMED = (
    _of_rows("rmsnorm"),
    _of_rows("layernorm"),
    _of_rows("softmax"),
    _of_rows("silu_mul"),
    _of_rows("gelu_mul"),
    Timed(
        name="rope",
        grid={"rows": _ROWS, "dim": (64, 128, 256)},
        formats=_FORMATS,
        make=made_by("rows", "rope"),
        keep=lambda f: bool(f["dim"] % 2 == 0),
        rule="an even dim",
    ),
    _of_rows("copy"),
    _of_rows("quantize", quant_dtype=("fp8", "int8")),
    _of_rows("reduction", axis=(1, 0)),
)
