"""SiLU and product, silu(x[:, :dim]) * x[:, dim:]: the activation of gated MLPs."""

from __future__ import annotations

from dataclasses import dataclass

from ..hardware import DType
from .memory_call import RowCall, set_quant_dtype
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class SiluMul(RowCall):
    """`rows` rows of `dim` values.

    `dim` values are written of each row, and twice as many read. `quant_dtype` is the format of the result.
    """

    quant_dtype: DType | None = None

    FAMILY = "silu_mul"

    def check(self) -> None:
        """Reads the fields of the family's own."""
        set_quant_dtype(self)


FAMILY = memory_family(
    SiluMul(rows=4096, dim=14336), "silu(gate) * up: rows of 2 x dim values in, dim out; quantised where asked"
)
