"""A copy of an array."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import RowCall
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(RowCall):
    """`rows` rows of `dim` values, which lie one after the other."""

    FAMILY = "copy"


FAMILY = memory_family(Copy(rows=4096, dim=4096), "an array as it is, on the same GPU")
