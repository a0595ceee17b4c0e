"""The call of the grouped GEMM family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..hardware import DType
from .base import Call
from .fields import same_length, set_dtype, set_names, set_numbers
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
        object.__setattr__(self, "m_per_group", counts_of("m_per_group", self.m_per_group))
        set_numbers(self, ("n", "k"))
        set_dtype(self)
        set_names(self)
        same_length(self, ("n", "k"))
