"""What a family lists one by one for a drawing: the unequal tiles of a launch, or the rows of every expert."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ..scheduling import Placement, hardware, software

MOST_LISTED = 100_000  # tiles, or SMs: placing so many takes a fraction of a second


class Order(StrEnum):
    """How tiles get to the SMs."""

    IN_ORDER = "in order"
    LONGEST_FIRST = "longest first"
    EVENLY = "spread evenly"  # in a row, cut where an SM has its share


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """Tiles of one launch. Lengths are in steps; `busiest` is the work of the busiest SM that times stand on.

    `lengths` are in the order of the call: heads, their requests, the tiles of these; None where there are too many.
    """

    num_tiles: int
    total: float
    longest: float
    busiest: float
    order: Order
    lengths: np.ndarray | None

    def place(self, num_sms: int) -> Placement | None:
        """Each tile, or piece of one, on its SM; None where tiles are not listed."""
        if self.lengths is None or num_sms > MOST_LISTED:
            return None
        if self.order is Order.EVENLY:
            return software.evenly(self.lengths.tolist(), num_sms, self.busiest)
        if self.order is Order.LONGEST_FIRST:
            return software.longest_first(self.lengths.tolist(), num_sms)
        return hardware.simulate(self.lengths.tolist(), num_sms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Rows of each expert of the busiest rank, as they are and in whole tiles, and of each rank; most rows first."""

    rows: np.ndarray
    padded: np.ndarray
    ranks: np.ndarray
