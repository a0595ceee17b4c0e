"""Where an operator stands under the roofline of its GPU: the least time that its FLOP and bytes take.

Source: Williams, Waterman, Patterson, CACM 52(4), 2009. Peaks are the published dense ones. Single precision multiplies
as TF32 where the GPU can, because traces do not say whether it was allowed: the bound is then one for both.
"""

from __future__ import annotations

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..light_classes import dataclass
from .operator_formulas import Work

COMPUTE, MEMORY = "compute", "memory"
_PRODUCTS = ("gemm", "conv", "attention")  # whose FLOP are those of matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """The bound of one run, and which side of the ridge it is on. `math` is the format whose peak counts."""

    time_s: float
    bound: str
    math: str


def roof(of: Work, gpu: GPU) -> Roof | None:
    """None where the GPU lists no rate for the format, or there is nothing to do."""
    if not of.bytes:
        return None
    math = _math(of, gpu)
    if math is None:
        return None
    peak = gpu.peak_flop_per_s(math)
    compute_s, memory_s = of.flop / peak, of.bytes / gpu.dram_bytes_per_s
    bound = COMPUTE if compute_s > memory_s else MEMORY
    return Roof(time_s=max(compute_s, memory_s), bound=bound, math=str(math))


def _math(of: Work, gpu: GPU) -> DType | None:
    """Products multiply in their own format, everything else on the FMA pipe."""
    if of.form not in _PRODUCTS:
        return DType.FP32
    for math in (DType.TF32, DType.FP32) if of.dtype == DType.FP32 else (of.dtype,):
        try:
            gpu.math_pipe(DType(math))
        except (UnsupportedError, ValueError):
            continue
        return DType(math)
    return None
