"""Textbook times of an all-reduce by algorithm, on links of which each step costs a latency and bytes a rate."""

from __future__ import annotations

from dataclasses import dataclass

from ..collectives.alpha_beta import (
    double_tree_all_reduce_s,
    halving_doubling_s,
    hierarchical_all_reduce_s,
    recursive_doubling_s,
    ring_all_reduce_s,
    tree_all_reduce_s,
    tree_levels,
)

RING, RING_ALL_PORTS = "ring", "ring_all_ports"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hops:
    """Latency of a step and bytes per second of a rank in one direction, within a node and between nodes."""

    latency_s: float
    bandwidth: float
    network_latency_s: float | None = None
    network_bandwidth: float | None = None

    @property
    def slowest(self) -> tuple[float, float]:
        """Latency and rate of a step that goes over both: that of its slowest hop."""
        if self.network_latency_s is None or self.network_bandwidth is None:
            return self.latency_s, self.bandwidth
        return max(self.latency_s, self.network_latency_s), min(self.bandwidth, self.network_bandwidth)


def times(size: float, ranks: int, nodes: int, hops: Hops) -> dict[str, float]:
    """Seconds of each algorithm that there is for so many ranks, evenly on `nodes`.

    Those that know no nodes go at the pace of the slowest hop; `ring_all_ports` are as many rings as a node has ranks,
    each through another port.
    """
    alpha, rate = hops.slowest
    found = {
        RING: ring_all_reduce_s(size, ranks, alpha, rate),
        "tree": tree_all_reduce_s(size, ranks, alpha, rate),
        "pipelined_tree": double_tree_all_reduce_s(size, ranks, alpha, rate),
        "recursive_doubling": recursive_doubling_s(size, ranks, alpha, rate),
    }
    if ranks == 2 ** tree_levels(ranks):
        found["halving_doubling"] = halving_doubling_s(size, ranks, alpha, rate)
    if hops.network_latency_s is None or hops.network_bandwidth is None:
        return found
    each = ranks // nodes
    found["hierarchical"] = hierarchical_all_reduce_s(
        size, each, nodes, hops.latency_s, hops.bandwidth, hops.network_latency_s, hops.network_bandwidth
    )
    found[RING_ALL_PORTS] = ring_all_reduce_s(size, ranks, alpha, min(hops.bandwidth, each * hops.network_bandwidth))
    return found
