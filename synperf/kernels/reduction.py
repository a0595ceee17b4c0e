"""A sum over one axis of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from .memory_call import RowCall
from .memory_family import memory_family
from .memory_work import Work, row_work


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction(RowCall):
    """`rows` rows of `dim` values; over `axis` 1 (or -1) a sum of each row is left, over 0 (or -2) of each column."""

    axis: int = 1

    FAMILY = "reduction"

    def check(self) -> None:
        """Reads the axis.

        Raises:
            FieldError: a matrix has no such axis.
        """
        object.__setattr__(self, "axis", axis_of(self.axis))


def axis_of(value: Any) -> int:
    """0 or 1, from either end.

    Raises:
        FieldError: it is neither.
    """
    text = str(value).strip()
    found = {"0": 0, "-2": 0, "1": 1, "-1": 1, "0.0": 0, "1.0": 1, "-1.0": 1, "-2.0": 0}.get(text)
    if found is None or isinstance(value, bool):
        raise FieldError(f"axis must be 0 (a sum of each column) or 1 (of each row), got {text[:60]!r}")
    return found


def work(p: Reduction) -> Work:
    """A value of each row out; or of each column, which CTAs add up that share no row."""
    found = row_work(p)
    if p.axis == 1:
        found.row_out = p.dtype.bytes
    else:
        found.beside_out = p.dtype.bytes / p.rows
        found.reductions = 0.0
    return found


FAMILY = memory_family(Reduction(rows=4096, dim=4096), "the sums of the rows, or of the columns, of a matrix", work)
