"""GEMM: a plain or batched product with weights stored as [n, k], and of fp8 the scaled one."""

from __future__ import annotations

import torch

from ..libraries import blas
from ..source import Source
from ..timed import Fields, Made


def gemm(f: Fields, source: Source) -> Made:
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
