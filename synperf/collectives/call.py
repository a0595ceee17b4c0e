"""One collective operation, or columns of many, as a call: the neighbour of a kernel's call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, UnknownNameError
from ..hardware import DType
from ..kernels.base import Call
from ..kernels.fields import MOST_ELEMENTS, name_of, refuse, same_length, set_dtype, set_numbers
from .algorithms import ALGORITHMS, EXPERTS, SEND_RECV

OPERATIONS = tuple(ALGORITHMS)
NUMBERS = ("bytes", "ranks", "nodes", "topk")
MOST_RANKS = 65_536
_NAMES = ("link", "network", "algorithm", "protocol", "engine", "kernel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective(Call):
    """`bytes` are the size column of nccl-tests; `ranks` take part, one GPU each, spread evenly over `nodes`.

    That size is the whole buffer of a rank for all_reduce, broadcast, send_recv and all_to_all (a rank sends one
    n-th of it to each of n), and for all_gather and reduce_scatter the buffer of all ranks together. For moe_dispatch
    and moe_combine it is the tokens of one rank, each counted once; each goes to `topk` experts, wherever they are.
    `bytes`, `ranks`, `nodes` and `topk` are numbers, or arrays of one length. What is left out is chosen: `nodes` by
    the ranks that a node holds, `link` (within a node) by the GPU, `algorithm` and `protocol` by least time, `kernel`
    by the engine, NCCL where none is named. `network` is what joins the nodes, where there are several.
    """

    operation: str
    bytes: Any
    ranks: Any
    dtype: DType = DType.BF16
    nodes: Any = None
    topk: Any = None
    link: str | None = None
    network: str | None = None
    algorithm: str | None = None
    protocol: str | None = None
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        """Reads and checks the fields.

        Raises:
            FieldError: a field is missing, out of range, or does not go with another.
        """
        if self.operation not in OPERATIONS:
            raise FieldError(f"operation: {UnknownNameError.among('collective', str(self.operation), OPERATIONS)}")
        set_numbers(self, ("bytes",), most=MOST_ELEMENTS)
        set_numbers(self, ("ranks",), most=MOST_RANKS)
        set_numbers(self, ("nodes", "topk"), optional=True, most=MOST_RANKS)
        set_dtype(self)
        for name in _NAMES:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, name_of(name, value))
        same_length(self, NUMBERS)
        self._check_ranks()

    def _check_ranks(self) -> None:
        """Checks that ranks and nodes go with each other and with the operation.

        Raises:
            FieldError: they do not.
        """
        refuse(self.ranks < 2, "ranks must be 2 or more, got {}", self.ranks)
        if self.operation == SEND_RECV:
            refuse(self.ranks != 2, "ranks must be 2 for send_recv, got {}", self.ranks)
        if (self.topk is None) == (self.operation in EXPERTS):
            raise FieldError(f"topk: {self.operation} {'needs' if self.topk is None else 'has no'} experts per token")
        if self.nodes is not None:
            refuse(
                self.ranks % self.nodes != 0, "ranks must be a multiple of nodes, got {} and {}", self.ranks, self.nodes
            )
