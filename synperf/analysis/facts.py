"""What is known of a job when its check list is gone through, and shares of it that several items ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..light_classes import dataclass
from .collectives import Across
from .copies import Copies
from .diagnosis import Diagnosis
from .geometry import Geometry
from .imbalance import Imbalance
from .kernels import Kernel
from .memory import Memory
from .operators import Operator, Operators
from .overlap import Overlap
from .steps import Steps

_T = TypeVar("_T")
PRODUCTS = ("gemm", "conv")  # whose FLOP are those of matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The answers to the other questions, of all ranks."""

    overlaps: tuple[Overlap, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    geometry: tuple[Geometry, ...] = ()
    copies: tuple[Copies, ...] = ()
    operators: tuple[Operators, ...] = ()
    memory: tuple[Memory, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    steps: tuple[Steps, ...] = ()
    across: Across | None = None
    imbalance: tuple[Imbalance, ...] = ()

    @property
    def span_ns(self) -> int:
        """Of all devices together."""
        return sum(one.span_ns for one in self.overlaps)

    def known(self) -> list[Operator]:
        """Operators with work by a formula and GPU time of their own: none counts twice."""
        every = (one for rank in self.operators for one in rank.operators)
        return [one for one in every if one.flop is not None and one.gpu_own_ns]

    def products(self) -> list[Operator]:
        """Those that are matrix products or convolutions."""
        return [one for one in self.known() if one.form in PRODUCTS]

    def cause_share(self, cause: str) -> float | None:
        """What one of the seven causes costs, of the span; None without a diagnosis."""
        if not self.diagnoses or not self.span_ns:
            return None
        costs = (c.total_ns for one in self.diagnoses for c in one.causes if c.cause == cause)
        return sum(costs) / self.span_ns


def share(ones: Iterable[_T], time: Callable[[_T], int], holds: Callable[[_T], bool]) -> float | None:
    """The part of the time of these for which something holds; None where there is no time."""
    timed = [(time(one), holds(one)) for one in ones]
    whole = sum(part for part, _ in timed)
    return sum(part for part, is_so in timed if is_so) / whole if whole else None
