"""The call of the GEMM family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .base import Call
from .fields import MAX_EXTENT, same_length, set_dtype, set_names, set_numbers

_OUT = {DType.FP32: DType.FP32, DType.TF32: DType.FP32, DType.FP16: DType.FP16}  # every other format writes bf16


_EXTENTS = ("m", "n", "k", "batch")
_TILING = ("tile_m", "tile_n", "tile_k", "split_k")
_WRITTEN = dict.fromkeys((DType.FP32, DType.FP16, DType.BF16, DType.FP8, DType.INT8))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemm(Call):
    """Extents in elements: numbers, or arrays of one length for many calls at once.

    `batch` independent products of one shape. Tile fields that are not given are chosen (`gemm_tiling`).

    Raises:
        FieldError: an extent is not a whole number from 1 to 2**31 - 1, or a format is unknown.
    """

    m: Any
    n: Any
    k: Any
    batch: Any = 1
    dtype: DType = DType.BF16
    out_dtype: DType | None = None
    engine: str | None = None
    kernel: str | None = None
    tile_m: Any = None
    tile_n: Any = None
    tile_k: Any = None
    split_k: Any = None

    def __post_init__(self) -> None:
        m, n, k, batch = self.m, self.n, self.k, self.batch
        were_plain = type(m) is type(n) is type(k) is type(batch) is int and min(m, n, k, batch) > 0
        if not were_plain or max(m, n, k, batch) > MAX_EXTENT:
            were_plain = set_numbers(self, _EXTENTS)
        if self.tile_m is not None or self.tile_n is not None or self.tile_k is not None or self.split_k is not None:
            were_plain &= set_numbers(self, _TILING, optional=True)
        if type(self.dtype) is not DType:
            set_dtype(self)
        if self.out_dtype is None:
            object.__setattr__(self, "out_dtype", _OUT.get(self.dtype, DType.BF16))
        else:
            set_dtype(self, "out_dtype")
        if self.out_dtype not in _WRITTEN:
            raise FieldError(f"out_dtype must be one of {', '.join(_WRITTEN)}, got {self.out_dtype}")
        if self.engine is not None or self.kernel is not None:
            set_names(self)
        if not were_plain:
            same_length(self, _EXTENTS + _TILING)
