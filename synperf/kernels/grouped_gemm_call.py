"""The call of the grouped GEMM family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..hardware import DType
from .base import Call, dtype_of, name_of, same_length, whole
from .moe_call import counts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedGemm(Call):
    """C_g[m_g, n] = A_g[m_g, k] B_g[k, n] in one launch, for groups of `m_per_group` rows; a group may have none.

    Raises:
        FieldError: an extent is not a whole number from 1 to 2**31 - 1, or no group has a row.
    """

    m_per_group: tuple[int, ...]
    n: Any
    k: Any
    dtype: DType = DType.BF16
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "m_per_group", counts_of("m_per_group", self.m_per_group))
        for name in ("n", "k"):
            value = getattr(self, name)
            if type(value) is not int or not 0 < value < 2**31:
                put(self, name, whole(name, value))
        if type(self.dtype) is not DType:
            put(self, "dtype", dtype_of("dtype", self.dtype))
        for name in ("engine", "kernel"):
            if getattr(self, name) is not None:
                put(self, name, name_of(name, getattr(self, name)))
        same_length(self, ("n", "k"))
