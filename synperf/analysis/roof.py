"""Where an operator stands under the roofline of its GPU: the least time that its FLOP and bytes take.

Source: Williams, Waterman, Patterson, CACM 52(4), 2009. Peaks are the published dense ones. Single precision multiplies
as TF32 where the GPU can, because traces do not say whether it was allowed: the bound is then one for both.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from .operator_formulas import Work

COMPUTE, MEMORY = "compute", "memory"
_PRODUCTS = ("gemm", "conv", "attention")  # whose FLOP are those of matrix products


class Roof(NamedTuple):
    """The bound of one run, and which side of the ridge it is on. `math` is the format whose peak counts."""

    time_s: float
    bound: str
    math: str


class Roofs:
    """Those of one GPU."""

    def __init__(self, gpu: GPU) -> None:
        self.gpu = gpu
        self._known: dict[tuple[str, str], tuple[str, float] | None] = {}  # by form and format: that and its peak

    def of(self, work: Work) -> Roof | None:
        """None where the GPU lists no rate for the format, or there is nothing to do."""
        asked = work.form, work.dtype
        if asked not in self._known:
            math = _math(work, self.gpu)
            self._known[asked] = None if math is None else (str(math), self.gpu.peak_flop_per_s(math))
        known = self._known[asked]
        if known is None or not work.bytes:
            return None
        math_name, peak = known
        compute_s, memory_s = work.flop / peak, work.bytes / self.gpu.dram_bytes_per_s
        return Roof(max(compute_s, memory_s), COMPUTE if compute_s > memory_s else MEMORY, math_name)


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
