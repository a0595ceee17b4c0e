"""Measured messages of one curve, as the columns that curves are fitted to and scored on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import hardware
from ..hardware.links import link, network
from ..measurements import Rows
from .algorithms import EXPERTS, experts_reached, ranks_reached
from .curves import Curve
from .place import Place

PER_RANK, PER_EXPERT = (
    "rank",
    "expert",
)  # what a token is sent to: every rank that has one of its experts, or each expert


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Messages:
    """Bytes that are sent, numbers of ranks and nodes, and times."""

    volume: np.ndarray
    ranks: np.ndarray
    nodes: np.ndarray
    time_s: np.ndarray

    @classmethod
    def of(cls, rows: Rows, copies: str = PER_RANK) -> Messages:
        """The messages of rows of one curve."""
        ranks, nodes = (rows.fields[name].astype(int) for name in ("ranks", "nodes"))
        return cls(volume=volume(rows, ranks, copies), ranks=ranks, nodes=nodes, time_s=rows.time_s)

    def take(self, which: np.ndarray) -> Messages:
        """Some of them."""
        return Messages(
            volume=self.volume[which], ranks=self.ranks[which], nodes=self.nodes[which], time_s=self.time_s[which]
        )

    def shapes(self) -> Iterator[tuple[int, int, np.ndarray]]:
        """Every number of ranks and nodes, and which messages have it."""
        for ranks, nodes in sorted(set(zip(self.ranks.tolist(), self.nodes.tolist(), strict=True))):
            yield ranks, nodes, (self.ranks == ranks) & (self.nodes == nodes)

    def estimated(self, curve: Curve) -> np.ndarray:
        """Times by a curve."""
        found = np.empty(len(self))
        for ranks, nodes, which in self.shapes():
            found[which] = curve.time_s(self.volume[which], ranks, nodes)
        return found

    def __len__(self) -> int:
        """Number of messages."""
        return len(self.time_s)


def volume(rows: Rows, reached: np.ndarray, copies: str) -> np.ndarray:
    """Bytes that a rank sends, where tokens of expert layers go to `reached` ranks or nodes."""
    sizes: np.ndarray = rows.fields["bytes"].astype(float)
    if rows.family[0] not in EXPERTS:
        return sizes
    times = experts_reached if copies == PER_EXPERT else ranks_reached
    topk = rows.fields["topk"].tolist()
    sent: np.ndarray = sizes * np.array([times(k, n) for k, n in zip(topk, reached.tolist(), strict=True)])
    return sent


def floors(rows: Rows) -> np.ndarray:
    """The physical bound of every row; between nodes, a token goes once to each node."""
    messages = Messages.of(rows)
    reached = np.where(messages.nodes > 1, messages.nodes, messages.ranks)
    found = volume(rows, reached, PER_RANK)
    for ranks, nodes, which in messages.shapes():
        found[which] *= place_of(rows, ranks, nodes).least_s_per_byte(str(rows.family[0]))
    return found


def place_of(rows: Rows, ranks: int, nodes: int) -> Place:
    """Where rows of one curve were measured, with so many ranks."""
    between = str(rows.fields["network"][0])
    return Place(
        gpu=hardware.gpu(str(rows.gpu[0])),
        link=link(str(rows.fields["link"][0])),
        network=network(between) if between else None,
        ranks=ranks,
        nodes=nodes,
    )
