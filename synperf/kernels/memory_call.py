"""Calls of the memory-bound families: what their fields have in common, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .base import Call
from .fields import MOST_ELEMENTS, refuse, same_length, set_dtype, set_names, set_numbers, truth
from .memory_traits import facts, scales


class MemoryCall(Call):
    """How the fields of every such call are read. A class of calls names its family and its number fields.

    Raises:
        FieldError: a field is missing, out of range, or does not go with another.
    """

    __slots__ = ()
    FAMILY = ""
    NUMBERS: tuple[str, ...] = ()
    OPTIONAL: tuple[str, ...] = ()  # number fields that may be left out
    LONG: tuple[str, ...] = ()  # number fields that may be as long as float64 counts

    dtype: DType
    engine: str | None
    kernel: str | None

    def __post_init__(self) -> None:
        known = facts(self.FAMILY)
        were_plain = set_numbers(self, self.NUMBERS)
        if self.LONG:
            were_plain &= set_numbers(self, self.LONG, most=MOST_ELEMENTS)
        if self.OPTIONAL:
            were_plain &= set_numbers(self, self.OPTIONAL, optional=True)
        if type(self.dtype) is not DType:
            set_dtype(self)
        check_format("dtype", self.dtype, known.dtypes)
        if self.engine is not None or self.kernel is not None:
            set_names(self)
        if not were_plain:
            same_length(self, self.NUMBERS + self.LONG + self.OPTIONAL)
        self.check()

    def check(self) -> None:
        """Reads and checks the fields that the family has of its own, where there are any.

        Raises:
            FieldError: one is out of range, or does not go with another.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCall(MemoryCall):
    """`rows` rows of `dim` values: numbers, or arrays of one length for many calls at once."""

    rows: Any
    dim: Any
    dtype: DType = DType.BF16
    engine: str | None = None
    kernel: str | None = None

    NUMBERS = ("rows", "dim")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedCall(RowCall):
    """`rows` rows of `dim` values.

    `dim` values are written of each row, and twice as many read. `quant_dtype` is the format of the result.
    """

    quant_dtype: DType | None = None

    def check(self) -> None:
        """Reads the fields of the family's own."""
        set_quant_dtype(self)


def check_format(name: str, dtype: DType, known: tuple[DType, ...]) -> None:
    """Checks that the family takes a format.

    Raises:
        FieldError: it does not; the message lists those that it takes.
    """
    if dtype not in known:
        raise FieldError(f"{name} must be one of {', '.join(known)}, got {dtype}")


def set_residual(p: Any) -> None:
    """Reads whether a residual is added, in place.

    Raises:
        FieldError: as `truth`.
    """
    if type(p.residual) is not bool:
        object.__setattr__(p, "residual", truth("residual", p.residual))


def set_quant_dtype(p: Any) -> None:
    """Reads the format of the result, in place; None stays.

    Raises:
        FieldError: the family does not write it, it is wider than what is read, or rows do not hold whole blocks of it.
    """
    if p.quant_dtype is None:
        return
    set_dtype(p, "quant_dtype")
    check_format("quant_dtype", p.quant_dtype, facts(p.FAMILY).quant_dtypes)
    if p.quant_dtype.bytes > p.dtype.bytes:
        raise FieldError(f"quant_dtype must not be wider than dtype, which is {p.dtype}, got {p.quant_dtype}")
    whole = scales(p.quant_dtype).whole
    if whole > 1:
        refuse(p.dim % whole != 0, f"dim must be a multiple of {whole} in {p.quant_dtype}, got {{}}", p.dim)
