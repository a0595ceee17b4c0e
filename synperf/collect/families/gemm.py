"""GEMM as `torch.matmul` with weights stored as [n, k], and for fp8 `torch._scaled_mm` with one scale an operand."""

from __future__ import annotations

import torch

from ..libraries import blas
from ..source import Source
from ..timed import Fields, Made, Timed

_WIDTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 5120, 8192, 14336, 16384)


def _make(f: Fields, source: Source) -> Made:
    dtype, batch = f["dtype"], () if f["batch"] == 1 else (f["batch"],)
    a = source.random(*batch, f["m"], f["k"], dtype=dtype)
    b = source.random(*batch, f["n"], f["k"], dtype=dtype).mT
    if dtype == "fp8":
        one = torch.ones((), device=source.device)
        out = source.empty(f["m"], f["n"], dtype="bf16")
        return Made(
            run=lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, out=out), library=blas(source.device)
        )
    out = source.empty(*batch, f["m"], f["n"], dtype=dtype)
    return Made(run=lambda: torch.matmul(a, b, out=out), library=blas(source.device))


def _flop(f: Fields) -> float:
    return float(2 * f["m"] * f["n"] * f["k"] * f["batch"])


def _keep(f: Fields) -> bool:
    return bool(f["dtype"] != "fp8" or f["batch"] == 1)  # there is no scaled product of batches


TIMED = (
    Timed(
        name="gemm",
        grid={"m": tuple(2**i for i in range(15)), "n": _WIDTHS, "k": _WIDTHS, "batch": (1,)},
        formats=("fp32", "fp16", "bf16", "fp8"),
        make=_make,
        flop=_flop,
        keep=_keep,
        rule="batch 1 with fp8",
    ),
)
