"""RMS norm of every row, times a weight per column; a residual is added before, the result quantised, if asked to."""

from __future__ import annotations

from dataclasses import dataclass

from ..hardware import DType
from .memory_call import RowCall, set_quant_dtype, set_residual
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class RmsNorm(RowCall):
    """`rows` rows of `dim` values.

    `residual` is added to x first, and the sum is written too, as engines fuse it. `quant_dtype` is the format of the
    result, with its scales.
    """

    residual: bool = False
    quant_dtype: DType | None = None

    FAMILY = "rmsnorm"

    def check(self) -> None:
        """Reads the fields of the family's own."""
        set_residual(self)
        set_quant_dtype(self)


FAMILY = memory_family(
    RmsNorm(rows=4096, dim=4096),
    "y = x / rms(x) * weight, per row; with a residual added before and a quantised result where asked",
)
