"""How busy a device is over time: its span in slices of one length, and of each what computes, is exposed and is idle.

The definitions are those of `overlap`; over all slices each kind adds up to what `overlap` says, to the nanosecond.
"""

from __future__ import annotations

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, distinct
from .overlap import unions
from .work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Slices of one device; `edges_ns` has one more than there are slices, on the clock of the trace."""

    rank: int | None
    device: int
    edges_ns: tuple[int, ...]
    compute_ns: tuple[int, ...]
    exposed_copy_ns: tuple[int, ...]
    exposed_comm_ns: tuple[int, ...]
    idle_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What each of some windows has of each kind, in nanoseconds."""

    compute: Column
    exposed_copy: Column
    exposed_comm: Column

    @property
    def busy(self) -> Column:
        return self.compute + self.exposed_copy + self.exposed_comm


def covered(work: Work, start: Column, end: Column) -> Covered:
    """How a device spends each window from `start` to `end`."""
    sums = [one.covered(start, end) for one in unions(work)]
    return Covered(compute=sums[0], exposed_copy=sums[1] - sums[0], exposed_comm=sums[2] - sums[1])


def timeline(work: Work, slices: int) -> Timeline:
    """The span of a device, which has work, in at most that many slices, none of which is empty."""
    first, last = int(work.events.start_ns[work.rows[0]]), int(work.events.end_ns(work.rows).max())
    edges = distinct(np.linspace(0, last - first, slices + 1).astype(np.int64)) + first
    found = covered(work, edges[:-1], edges[1:])
    return Timeline(
        rank=work.trace.rank,
        device=work.device,
        edges_ns=tuple(edges.tolist()),
        compute_ns=tuple(found.compute.tolist()),
        exposed_copy_ns=tuple(found.exposed_copy.tolist()),
        exposed_comm_ns=tuple(found.exposed_comm.tolist()),
        idle_ns=tuple((np.diff(edges) - found.busy).tolist()),
    )
