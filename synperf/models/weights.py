"""One tensor of a checkpoint: its name, its extents, and how the ranks of a plan share it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a tensor is, which says whether quantisation reaches it: of these, linear layers alone."""

    LINEAR = "linear"
    WIDE = "wide"  # embeddings, routers, the projection to logits: matrices that checkpoints leave as they are
    VECTOR = "vector"  # biases, norms, sinks and other small ones


class Share(StrEnum):
    """What one rank holds of a tensor."""

    WHOLE = "whole"  # every rank all of it
    TENSOR = "tensor"  # its part of rows, columns or words, by tensor parallelism
    EXPERTS = "experts"  # its experts, or its part of each


class Weight(NamedTuple):
    """A matrix with `n` values out for `k` in, or a vector (k = 1); `copies` of it, one per expert.

    `name` is that of the tensor within its layer, as checkpoints of Llama and Qwen spell it. `most_ranks` limits how
    many ranks share it where more hold copies, as with keys and values of fewer heads than ranks; 0 is no limit.
    """

    name: str
    n: int
    k: int = 1
    kind: Kind = Kind.LINEAR
    share: Share = Share.WHOLE
    copies: int = 1
    most_ranks: int = 0

    @property
    def parameters(self) -> int:
        """Values of all copies."""
        return self.n * self.k * self.copies


def vector(name: str, n: int, share: Share = Share.WHOLE, copies: int = 1) -> Weight:
    """A bias, a norm or another small tensor."""
    return Weight(name, n, kind=Kind.VECTOR, share=share, copies=copies)


def linear(name: str, n: int, k: int, share: Share, *, bias: bool = False, most_ranks: int = 0) -> list[Weight]:
    """A linear layer, with its bias where it has one."""
    found = [Weight(f"{name}.weight", n, k, share=share, most_ranks=most_ranks)]
    return [*found, vector(f"{name}.bias", n)] if bias else found
