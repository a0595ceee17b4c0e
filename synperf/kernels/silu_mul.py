"""SiLU and product, silu(x[:, :dim]) * x[:, dim:]: the activation of gated MLPs."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import GatedCall
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class SiluMul(GatedCall):
    """Fields as `GatedCall` has them."""

    FAMILY = "silu_mul"


FAMILY = memory_family(
    SiluMul(rows=4096, dim=14336), "silu(gate) * up: rows of 2 x dim values in, dim out; quantised where asked"
)
