"""Steps and bytes of every algorithm: how often a rank waits for another, and what crosses its link.

Sources: NVIDIA/nccl, src/graph/tuning.cc (ring, tree, NVLS); NVIDIA/nccl-tests#212 and #239 (NVLS sends (n+1)/n of the
buffer); the custom all-reduce of vLLM, csrc/custom_all_reduce.cuh (one shot, two shots); deepseek-ai/DeepEP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2

from ..errors import UnsupportedError

ALL_REDUCE, ALL_TO_ALL, SEND_RECV, BROADCAST = "all_reduce", "all_to_all", "send_recv", "broadcast"
HALVES = ("all_gather", "reduce_scatter")  # of a ring all-reduce
EXPERTS = ("moe_dispatch", "moe_combine")
RING, TREE, NVLS, HIERARCHICAL = "ring", "tree", "nvls", "hierarchical"
DIRECT, ONE_SHOT, TWO_SHOT = "direct", "one_shot", "two_shot"
ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    ALL_REDUCE: (RING, TREE, NVLS, HIERARCHICAL, ONE_SHOT, TWO_SHOT),
    **dict.fromkeys(HALVES, (RING,)),
    BROADCAST: (RING,),
    **dict.fromkeys((ALL_TO_ALL, SEND_RECV, *EXPERTS), (DIRECT,)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One way to run an operation: its time is `base_s`, a latency for each step, and `s_per_byte` on the wire."""

    algorithm: str
    protocol: str
    base_s: float
    hop_s: float
    network_hop_s: float
    s_per_byte: float

    def latency_s(self, operation: str, ranks: int, nodes: int) -> float:
        """The time of an empty message."""
        intra, inter = steps(operation, self.algorithm, ranks, nodes)
        return self.base_s + intra * self.hop_s + inter * self.network_hop_s


def steps(operation: str, algorithm: str, ranks: int, nodes: int) -> tuple[float, float]:
    """How often a rank waits for another of its node, and of another node."""
    return _STEPS[algorithm](operation, ranks, nodes)


def wire_share(operation: str, algorithm: str, ranks: int) -> float:
    """Bytes that cross the link of a rank in one direction, over the size of the message.

    Raises:
        UnsupportedError: the operation does not run so.
    """
    if algorithm not in ALGORITHMS[operation]:
        known = ", ".join(ALGORITHMS[operation])
        raise UnsupportedError(f"algorithm: {operation} has {known}, got {algorithm!r}")
    if operation in (SEND_RECV, BROADCAST, *EXPERTS):  # of experts, the size is that of what is sent
        return 1.0
    return _ALL_REDUCE[algorithm](ranks) if operation == ALL_REDUCE else (ranks - 1) / ranks


def least_wire_share(operation: str, ranks: int, *, in_switch: bool) -> float:
    """The least that any algorithm sends over the link of the busiest rank."""
    if operation == ALL_REDUCE:
        return (1 if in_switch else 2) * (ranks - 1) / ranks
    return wire_share(operation, ALGORITHMS[operation][0], ranks)


def ranks_reached(topk: int, ranks: int) -> float:
    """Other ranks, of `ranks`, that at least one of a token's experts is on, where routing is even."""
    return (ranks - 1) * (1 - (1 - 1 / ranks) ** topk)


def experts_reached(topk: int, ranks: int) -> float:
    """Experts of a token that are on other ranks, where routing is even."""
    return topk * (ranks - 1) / ranks


def _ring_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:
    if operation != ALL_REDUCE:
        return ranks - nodes, nodes - 1
    total = 2 * (ranks - 1)
    inter = min(2 * nodes, total) if nodes > 1 else 0
    return total - inter, inter


def _tree_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return 2 * (ranks / nodes - 1), 2 * log2(nodes)


def _nvls_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return 1, 2 * log2(nodes)


def _hierarchical_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return 2 * (ranks / nodes - 1), 2 * (nodes - 1)


def _direct_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return ranks / nodes - 1, ranks - ranks / nodes


def _one_shot_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return ranks - 1, 0


def _two_shot_steps(operation: str, ranks: int, nodes: int) -> tuple[float, float]:  # noqa: ARG001
    return 2 * (ranks - 1), 0


_STEPS: Mapping[str, Callable[[str, int, int], tuple[float, float]]] = {
    RING: _ring_steps,
    TREE: _tree_steps,
    NVLS: _nvls_steps,
    HIERARCHICAL: _hierarchical_steps,
    DIRECT: _direct_steps,
    ONE_SHOT: _one_shot_steps,
    TWO_SHOT: _two_shot_steps,
}
_ALL_REDUCE: Mapping[str, Callable[[int], float]] = {
    RING: lambda n: 2 * (n - 1) / n,
    TREE: lambda n: 2.0,  # noqa: ARG005
    NVLS: lambda n: (n + 1) / n,
    HIERARCHICAL: lambda n: 1.0,  # noqa: ARG005  # its two rates are in the seconds a byte
    ONE_SHOT: lambda n: n - 1.0,
    TWO_SHOT: lambda n: 2 * (n - 1) / n,
}
