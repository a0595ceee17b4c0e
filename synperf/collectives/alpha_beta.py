"""Textbook costs of collectives: a latency alpha for each step, and the bytes over a bandwidth B.

`size` is the buffer of a rank in bytes (for all-gather and reduce-scatter that of all ranks together), `ranks` their
number, `alpha_s` the latency of a step, `rate` the bytes per second of a rank in one direction.
Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1),
2005; Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
35, 2009.
"""

from __future__ import annotations

from math import ceil, log2

from ..numeric import Number


def ring_all_reduce_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """A reduce-scatter and an all-gather around the ring."""
    return 2 * ring_half_s(size, ranks, alpha_s, rate)


def ring_half_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """A reduce-scatter or an all-gather around the ring; an all-to-all of pairs takes as long."""
    return (ranks - 1) * alpha_s + (ranks - 1) / ranks * size / rate


def pipelined_broadcast_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """A broadcast along the ring, in pieces."""
    return (ranks - 1) * alpha_s + size / rate


def tree_all_reduce_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """Up and down a binomial tree, the whole buffer in every step."""
    return 2 * tree_levels(ranks) * (alpha_s + size / rate)


def recursive_doubling_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """All-reduce in which pairs exchange the whole buffer, at twice the distance in every step."""
    return tree_levels(ranks) * (alpha_s + size / rate)


def halving_doubling_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """All-reduce in which pairs exchange half of what is left, then all doubles again; `ranks` are a power of two."""
    return 2 * tree_levels(ranks) * alpha_s + 2 * (ranks - 1) / ranks * size / rate


def double_tree_all_reduce_s(size: Number, ranks: int, alpha_s: float, rate: float) -> Number:
    """Up and down two binary trees that share the buffer, in pieces."""
    return 2 * tree_levels(ranks) * alpha_s + 2 * size / rate


def hierarchical_all_reduce_s(
    size: Number, ranks: int, nodes: int, alpha_s: float, rate: float, network_alpha_s: float, network_rate: float
) -> Number:
    """Reduce-scatter in each node, all-reduce of its n-th between nodes, all-gather in each node.

    `ranks` are those of one node, `network_rate` is the bytes per second of one GPU between nodes.
    """
    between = ring_all_reduce_s(size / ranks, nodes, network_alpha_s, network_rate)
    return ring_all_reduce_s(size, ranks, alpha_s, rate) + between


def crossover_bytes(ranks: int, alpha_s: float, rate: float) -> float:
    """The size above which a ring is faster than an unpipelined tree."""
    levels = tree_levels(ranks)
    return (2 * (ranks - 1) - 2 * levels) * alpha_s * rate / (2 * levels - 2 * (ranks - 1) / ranks)


def crossover_pipelined_bytes(ranks: int, alpha_s: float, rate: float) -> float:
    """The size above which a ring is faster than a pipelined double tree."""
    return (ranks - 1 - tree_levels(ranks)) * ranks * alpha_s * rate


def tree_levels(ranks: int) -> int:
    """Steps from the leaves of a binomial tree to its root."""
    return ceil(log2(ranks))
