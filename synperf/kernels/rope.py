"""Rotary position embedding: pairs of values of every head are rotated by the angles of its token's position.

Source: Su et al., "RoFormer", arXiv 2104.09864.
"""

from __future__ import annotations

from dataclasses import dataclass

from .fields import refuse
from .memory_call import RowCall
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope(RowCall):
    """`rows` vectors, one for each token and head of Q and K, of `dim` values that are rotated, in place."""

    FAMILY = "rope"

    def check(self) -> None:
        """Pairs need an even `dim`."""
        refuse(self.dim % 2 != 0, "dim must be even, since pairs of values are rotated, got {}", self.dim)


FAMILY = memory_family(
    Rope(rows=4096 * 40, dim=128),
    "rotary position embedding of rows = tokens x heads of Q and K, in place",
    shape=("rows", "dim"),  # heads have few sizes
)
