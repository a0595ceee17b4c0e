"""Where a collective runs: which link joins the ranks of a node, which network the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..errors import FieldError
from ..hardware import GPU
from ..hardware import links as catalog
from ..hardware.links import Link
from .algorithms import ALL_TO_ALL, EXPERTS, HALVES, SEND_RECV, least_wire_share

_GPUS_PER_NODE = 8  # of servers with NVLink; a bridge's are as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`ranks` GPUs on `nodes` nodes; `network` is None on one node. Rates are of one GPU, in one direction."""

    gpu: GPU
    link: Link
    network: Link | None
    ranks: int
    nodes: int
    assumptions: tuple[str, ...] = ()

    @property
    def ranks_per_node(self) -> int:
        """GPUs of one node that take part."""
        return self.ranks // self.nodes

    @property
    def bytes_per_s(self) -> float:
        """Published rate of the link within a node."""
        return self.link.rate_of(self.gpu)

    @property
    def network_bytes_per_s(self) -> float:
        """Published rate between nodes: all ports of a node, shared by its ranks, each behind its own PCIe."""
        assert self.network is not None  # there are several nodes
        ports = self.network.bytes_per_s * self.network.nics_per_node / self.ranks_per_node
        return min(ports, self.gpu.pcie_bytes_per_s or ports)

    @property
    def _ports(self) -> int:
        """Ports of a node that its ranks use: those near to each, where there are as many as GPUs."""
        assert self.network is not None  # there are several nodes
        near = max(1, self.network.nics_per_node // _GPUS_PER_NODE)
        return min(self.network.nics_per_node, self.ranks_per_node * near)

    @property
    def reached_bytes_per_s(self) -> float:
        """What long messages reach around a ring of all ranks, which is as fast as its slowest hop."""
        within = self.bytes_per_s * self.link.efficiency
        if self.network is None:
            return within
        around = self.reached_network_bytes_per_s
        return around if self.ranks_per_node == 1 else min(within, around)

    @property
    def reached_network_bytes_per_s(self) -> float:
        """What long messages reach between nodes, of all ports that the ranks of a node use."""
        assert self.network is not None  # there are several nodes
        return self.network.bytes_per_s * self._ports * self.network.efficiency

    def least_s_per_byte(self, operation: str) -> float:
        """The physical bound: the least that any algorithm sends over the link, or over the network."""
        within = least_wire_share(operation, self.ranks_per_node, in_switch=self.link.in_switch_reduction)
        if self.network is None:
            return within / self.bytes_per_s
        return max(within / self.bytes_per_s * self._inner_share(operation), self._between(operation))

    def _inner_share(self, operation: str) -> float:
        """Bytes that a rank exchanges within its node over those that it would alone there."""
        if operation in (SEND_RECV, *EXPERTS):
            return 0.0
        return self.ranks_per_node / self.ranks if operation in (ALL_TO_ALL, *HALVES) else 1.0

    def _between(self, operation: str) -> float:
        """Seconds a byte for what has to leave a node."""
        port = self.network_bytes_per_s
        if operation == SEND_RECV or operation in EXPERTS:
            return 1 / port
        if operation == ALL_TO_ALL:
            return (self.ranks - self.ranks_per_node) / self.ranks / port
        share = least_wire_share(operation, self.nodes, in_switch=False)
        return share / (port * self.ranks_per_node)


def place(call: Any, gpu: GPU, ranks: int, nodes: int | None) -> Place:
    """The place of a call's ranks; what the call leaves open is said.

    Raises: as `_place`.
    """
    return _place(gpu, call.link, call.network, ranks, nodes)


@lru_cache(maxsize=4096)
def _place(gpu: GPU, link: str | None, between: str | None, ranks: int, nodes: int | None) -> Place:
    """The place of so many ranks on the named link and network.

    Raises:
        UnknownNameError: no such link or network.
        UnsupportedError: nothing is known of the GPU's links.
        FieldError: ranks do not fit on one node, and no network is named; or they are not even on the nodes.
    """
    named = catalog.within(link) if link else catalog.default_link(gpu)
    said: tuple[str, ...] = () if link else (f"link: {named.key}, that of {gpu.key} where none is named",)
    count = _nodes(named, ranks) if nodes is None else nodes
    reached, beyond = _beyond(named, gpu, ranks // count)
    if ranks // count > reached.max_ranks:
        raise FieldError(f"nodes: {reached.key} joins {reached.max_ranks} GPUs of a node, got {ranks // count}")
    fabric = None if between is None else catalog.network(between)
    if count == 1:
        return Place(gpu=gpu, link=reached, network=None, ranks=ranks, nodes=1, assumptions=said + beyond)
    if between is None:
        example = "network=infiniband_ndr"
        raise FieldError(f"network: none given for {ranks} ranks on {count} nodes; right would be such as {example}")
    if nodes is None:
        said += (f"nodes: {count}, as few as {named.key} allows",)
    return Place(gpu=gpu, link=reached, network=fabric, ranks=ranks, nodes=count, assumptions=said + beyond)


def _nodes(link: Link, ranks: int) -> int:
    """The fewest nodes on which the ranks are even."""
    most = _GPUS_PER_NODE if link.beyond else link.max_ranks
    return next(nodes for nodes in range(1, ranks + 1) if ranks % nodes == 0 and ranks // nodes <= most)


def _beyond(link: Link, gpu: GPU, ranks: int) -> tuple[Link, tuple[str, ...]]:
    """The slowest link that so many ranks of a node have between them."""
    if not link.beyond or ranks <= link.max_ranks:
        return link, ()
    slow = catalog.pcie_of(gpu)
    return slow, (f"link: {link.key} joins {link.max_ranks} GPUs, so {ranks} have {slow.key} between some of them",)
