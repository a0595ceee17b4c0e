"""Bytes of activations that a transformer layer keeps for its backward pass, in 16 bits.

Source: V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", MLSys 2023, table 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError, UnknownNameError
from .amounts import count

NONE, SELECTIVE, FULL = "none", "selective", "full"
RECOMPUTES = (NONE, SELECTIVE, FULL)
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A layer of one micro-batch: `seq` tokens of `batch` sequences, `hidden` values each, `heads` of attention."""

    seq: int
    batch: int
    hidden: int
    heads: int

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is no whole number from 1 on.
        """
        for name in ("seq", "batch", "hidden", "heads"):
            object.__setattr__(self, name, count(name, getattr(self, name), _MOST))


def per_layer(
    shape: Shape, *, tp: int = 1, sequence_parallel: bool = False, recompute: str = NONE, flash: bool = False
) -> float:
    """Bytes of one layer on one of `tp` GPUs.

    The scores of attention, 5 a s / h of them, are not kept by a fused kernel (`flash`) nor under selective
    recomputation; full recomputation keeps the input of the layer alone.

    Raises:
        FieldError: sequence parallelism without tensor parallelism, or no such recomputation.
    """
    if recompute not in RECOMPUTES:
        raise FieldError(f"recompute: {UnknownNameError.among('recomputation', recompute[:40], RECOMPUTES)}")
    if sequence_parallel and tp == 1:
        raise FieldError("sequence_parallel needs tp of 2 or more, got tp 1")
    tokens = shape.seq * shape.batch * shape.hidden
    if recompute == FULL:
        return 2.0 * tokens
    scores = 0.0 if flash or recompute == SELECTIVE else 5 * shape.heads * shape.seq / shape.hidden
    return tokens * ((34 + scores) / tp if sequence_parallel else 10 + (24 + scores) / tp)
