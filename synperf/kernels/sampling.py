"""Sampling: softmax over the logits of every sequence, cut to the greatest if asked to, and a token drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .fields import refuse
from .memory_call import MemoryCall
from .memory_family import memory_family
from .memory_work import INDEX_BYTES, Work, row_work

TOP_K_PASSES = 4.0  # radix selection: 8 of the 32 bits of a key in each pass. Source: PyTorch, SortingRadixSelect.cuh


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(MemoryCall):
    """`rows` sequences of `dim` logits each, which `vocab` may be given as; with `top_k` only the greatest are drawn
    from. Numbers, or arrays of one length for many calls at once.
    """

    rows: Any
    dim: Any = None
    vocab: Any = None
    top_k: Any = None
    dtype: DType = DType.FP32
    engine: str | None = None
    kernel: str | None = None

    FAMILY = "sampling"
    NUMBERS = ("rows",)
    OPTIONAL = ("dim", "vocab", "top_k")

    def check(self) -> None:
        """One number of logits, and not more that are drawn from.

        Raises:
            FieldError: there is none, there are two, or `top_k` is above it.
        """
        if self.dim is None and self.vocab is None:
            raise FieldError("vocab: missing; right would be the number of logits of a sequence")
        if self.dim is None:
            object.__setattr__(self, "dim", self.vocab)
        if self.vocab is not None:
            refuse(
                self.vocab != self.dim,
                "vocab must be dim where both are given, which is {}, got {}",
                self.dim,
                self.vocab,
            )
        if self.top_k is not None:
            refuse(self.top_k > self.dim, "top_k must not be above vocab, which is {}, got {}", self.dim, self.top_k)


def work(p: Sampling) -> Work:
    """Logits in, a token out; a cut needs passes to find the least logit that stays."""
    found = row_work(p)
    found.row_out = INDEX_BYTES
    if p.top_k is not None:
        found.passes += TOP_K_PASSES
        found.flop += TOP_K_PASSES  # a comparison each
    return found


FAMILY = memory_family(
    Sampling(rows=64, dim=128256), "a token out of the softmax of every row of logits, or of its top_k", work
)
