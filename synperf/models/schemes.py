"""How quantised weights are stored: values of few bits, with a scale for a group or block of them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .weights import Weight

_FILE = Path(__file__).parent / "schemes.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """`dtype` is that of the products. A scale of `scale_bytes`, and a zero of `zero_bytes`, serves `rows` x `columns`
    of a matrix; 0 of these is all of them. `tensor_bytes` stand once beside every matrix.
    """

    dtype: DType
    rows: int = 1
    columns: int = 0
    scale_bytes: float = 0.0
    zero_bytes: float = 0.0
    tensor_bytes: float = 0.0

    def bytes(self, weight: Weight) -> float:
        """Values and scales of a matrix, of all its copies."""
        blocks = _blocks(weight.n, self.rows) * _blocks(weight.k, self.columns)
        one = weight.n * weight.k * self.dtype.bytes + blocks * (self.scale_bytes + self.zero_bytes)
        return weight.copies * (one + self.tensor_bytes)

    def grouped(self, columns: int | None) -> Scheme:
        """The scheme with another number of values to a scale, where one is given."""
        return self if columns is None else replace(self, columns=columns)


def _blocks(extent: int, size: int) -> int:
    return -(-extent // size) if size else 1


@cache
def schemes() -> dict[DType, Scheme]:
    """The scheme of every format that checkpoints are quantised to."""
    known: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        DType(name): Scheme(dtype=DType(name), **{key: value for key, value in fields.items() if key != "source"})
        for name, fields in known.items()
    }


def scheme_of(dtype: DType) -> Scheme | None:
    """How weights of that format are stored; None of formats that are not quantised.

    Raises:
        FieldError: no way is known.
    """
    if dtype in (DType.FP32, DType.TF32, DType.FP16, DType.BF16):
        return None
    if dtype not in schemes():
        raise FieldError(f"dtype must be one of bf16, fp16, fp32, {', '.join(sorted(schemes()))}, got {dtype}")
    return schemes()[dtype]
