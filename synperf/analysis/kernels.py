"""The kernels of a device: by name and by family, how often, how long, how launched."""

from __future__ import annotations

import numpy as np

from ..light_classes import dataclass
from ..traces.events import all_aligned
from .classify import family
from .work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """All runs of one kernel name on one device; `total_ns` is the sum of their durations, `share` of all kernels'.

    `grid`, `block`, `registers` and `occupancy` are those of the run that lasted longest, None where not recorded.
    """

    rank: int | None
    device: int
    name: str
    family: str
    count: int
    total_ns: int
    share: float
    min_ns: int
    median_ns: int
    max_ns: int
    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    registers: int | None
    occupancy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """All kernels of one family on one device; sums of durations, which count twice what runs at the same time."""

    rank: int | None
    device: int
    family: str
    count: int
    total_ns: int
    share: float


def kernels(work: Work) -> tuple[Kernel, ...]:
    """Every kernel name, the one that takes most first; their totals add up to that of all kernels."""
    events, rows = work.events, work.kernels
    rows = rows[np.lexsort((events.dur_ns[rows], events.name[rows]))]
    names, first, count = np.unique(events.name[rows], return_index=True, return_counts=True)
    ends = first + count
    dur = events.dur_ns[rows]
    launched = all_aligned(events.geometry, ("grid", "block", "registers", "occupancy"), rows[ends - 1])
    whole = int(dur.sum())
    made = []
    for place, name in enumerate(names.tolist()):
        runs = dur[first[place] : ends[place]]
        grid, block, registers, occupancy = (values[place].tolist() for values in launched)
        total = int(runs.sum())
        made.append(
            Kernel(
                rank=work.trace.rank,
                device=work.device,
                name=events.names[name],
                family=family(events.names[name]),
                count=len(runs),
                total_ns=total,
                share=total / whole if whole else 0.0,
                min_ns=int(runs[0]),
                median_ns=int(runs[len(runs) // 2]),
                max_ns=int(runs[-1]),
                grid=tuple(grid) if grid[0] > 0 else None,
                block=tuple(block) if block[0] > 0 else None,
                registers=registers if registers >= 0 else None,
                occupancy=occupancy if occupancy == occupancy else None,  # NaN is not equal to itself
            )
        )
    return tuple(sorted(made, key=lambda kernel: (-kernel.total_ns, kernel.name)))


def families(found: tuple[Kernel, ...]) -> tuple[Family, ...]:
    """The families of a device's kernels, the one that takes most first."""
    made = []
    for name in dict.fromkeys(kernel.family for kernel in found):
        group = [kernel for kernel in found if kernel.family == name]
        made.append(
            Family(
                rank=group[0].rank, device=group[0].device, family=name, count=sum(k.count for k in group),
                total_ns=sum(k.total_ns for k in group), share=sum(k.share for k in group),
            )
        )  # fmt: skip
    return tuple(sorted(made, key=lambda one: (-one.total_ns, one.family)))
