"""Softmax of every row."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import RowCall
from .memory_family import memory_family
from .memory_inputs import OF_GPUS, SIZES


@dataclass(frozen=True, slots=True, kw_only=True)
class Softmax(RowCall):
    """`rows` rows of `dim` values."""

    FAMILY = "softmax"


FAMILY = memory_family(Softmax(rows=4096, dim=4096), "exp(x - max) / sum, per row", sizes=SIZES, of_gpus=OF_GPUS)
