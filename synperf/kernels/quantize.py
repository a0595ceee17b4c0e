"""Quantisation: values times the reciprocal of a scale, cut to the range of a narrower format.

A scale for all values is known before; one per row needs the greatest value of the row first (which a kernel does, is
in `memory_kernels.toml`); blocks have theirs beside their values.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import DType
from .memory_call import RowCall, set_quant_dtype
from .memory_family import memory_family
from .memory_traits import facts, scales
from .memory_work import Work, of_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantize(RowCall):
    """`rows` rows of `dim` values of `dtype`, written in `quant_dtype` with their scales."""

    quant_dtype: DType = DType.FP8

    FAMILY = "quantize"

    def check(self) -> None:
        """Reads the format that is written.

        Raises:
            FieldError: as `set_quant_dtype`; there is none.
        """
        if self.quant_dtype is None:
            raise FieldError("quant_dtype: missing; right would be one of " + ", ".join(facts("quantize").quant_dtypes))
        set_quant_dtype(self)


def work(p: Quantize) -> Work:
    """Rows of one format in, of the other out; the maximum of a row is what a kernel adds."""
    found, beside = of_facts(facts("quantize"), p.rows, p.dim, p.dtype), scales(p.quant_dtype)
    found.value_out = p.quant_dtype.bytes
    found.beside_out = beside.bytes / beside.block
    found.row_out = beside.row
    return found


def variant(p: Quantize) -> str:
    """What is written, where it is not fp8, which every measured row writes: other formats are other kernels."""
    return "" if p.quant_dtype is DType.FP8 else str(p.quant_dtype)


FAMILY = memory_family(
    Quantize(rows=4096, dim=4096),
    "values into a narrower format with scales per tensor, row or block",
    work,
    variant=variant,
)
