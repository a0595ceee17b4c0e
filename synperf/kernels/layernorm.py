"""Layer norm of every row, times a weight and plus a bias per column."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import RowCall, set_residual
from .memory_family import memory_family
from .memory_inputs import OF_GPUS, SIZES, of_passes


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNorm(RowCall):
    """`rows` rows of `dim` values.

    `residual` is added to x first, and the sum is written too.
    """

    residual: bool = False

    FAMILY = "layernorm"

    def check(self) -> None:
        """Reads the fields of the family's own."""
        set_residual(self)


FAMILY = memory_family(
    LayerNorm(rows=4096, dim=4096),
    "y = (x - mean) / deviation * weight + bias, per row",
    beside=of_passes,
    sizes=SIZES,
    of_gpus=OF_GPUS,
)
