"""The call of the GEMM family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .base import Call, dtype_of, name_of, same_length, whole

_OUT = {DType.FP32: DType.FP32, DType.TF32: DType.FP32, DType.FP16: DType.FP16}  # every other format writes bf16


_EXTENTS = ("m", "n", "k", "batch")
_TILING = ("tile_m", "tile_n", "tile_k", "split_k")
_WRITTEN = (DType.FP32, DType.FP16, DType.BF16, DType.FP8, DType.INT8)


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
        put, are_numbers = object.__setattr__, True
        for name in _EXTENTS:
            value = getattr(self, name)
            if type(value) is not int or not 0 < value < 2**31:
                put(self, name, whole(name, value))
                are_numbers = False
        for name in _TILING:
            value = getattr(self, name)
            if value is not None:
                put(self, name, whole(name, value))
                are_numbers = False
        if type(self.dtype) is not DType:
            put(self, "dtype", dtype_of("dtype", self.dtype))
        if self.out_dtype is None:
            put(self, "out_dtype", _OUT.get(self.dtype, DType.BF16))
        elif type(self.out_dtype) is not DType:
            put(self, "out_dtype", dtype_of("out_dtype", self.out_dtype))
        if self.out_dtype not in _WRITTEN:
            raise FieldError(f"out_dtype must be one of {', '.join(_WRITTEN)}, got {self.out_dtype}")
        if self.engine is not None:
            put(self, "engine", name_of("engine", self.engine))
        if self.kernel is not None:
            put(self, "kernel", name_of("kernel", self.kernel))
        if not are_numbers:
            same_length(self, _EXTENTS + _TILING)
