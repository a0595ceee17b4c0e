"""GELU and product, gelu(x[:, :dim]) * x[:, dim:]: the activation of gated MLPs, in its form with tanh."""

from __future__ import annotations

from dataclasses import dataclass

from .memory_call import GatedCall
from .memory_family import memory_family


@dataclass(frozen=True, slots=True, kw_only=True)
class GeluMul(GatedCall):
    """Fields as `GatedCall` has them."""

    FAMILY = "gelu_mul"


FAMILY = memory_family(
    GeluMul(rows=4096, dim=14336), "gelu(gate) * up: rows of 2 x dim values in, dim out; quantised where asked"
)
