"""The transpose of a matrix: rows become columns. One side of it is not read, or not written, in its order."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import RowCall
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class Transpose(RowCall):
    """`rows` rows of `dim` values into `dim` rows of `rows`."""

    FAMILY = "transpose"


FAMILY = memory_family(Transpose(rows=4096, dim=4096), "rows of a matrix become columns", shape=("rows", "dim"))
