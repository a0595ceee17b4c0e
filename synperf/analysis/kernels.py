"""The kernels of a device: by name and by family, how often, how long, how launched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..traces.events import Column, aligned
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
    order = np.lexsort((events.dur_ns[rows], events.name[rows]))
    rows = rows[order]
    names, first = np.unique(events.name[rows], return_index=True)
    whole = int(events.dur_ns[rows].sum())
    runs = np.split(rows, first[1:]) if len(rows) else []
    made = [_kernel(work, events.names[name], run, whole) for name, run in zip(names.tolist(), runs, strict=True)]
    return tuple(sorted(made, key=lambda kernel: (-kernel.total_ns, kernel.name)))


def _kernel(work: Work, name: str, rows: Column, whole: int) -> Kernel:
    """Of runs in order of duration."""
    events = work.events
    dur, longest = events.dur_ns[rows], rows[-1:]
    total = int(dur.sum())
    occupancy = float(aligned(events.geometry, "occupancy", longest)[0])
    registers = int(aligned(events.geometry, "registers", longest)[0])
    return Kernel(
        rank=work.trace.rank,
        device=work.device,
        name=name,
        family=family(name),
        count=len(rows),
        total_ns=total,
        share=total / whole if whole else 0.0,
        min_ns=int(dur[0]),
        median_ns=int(dur[len(dur) // 2]),
        max_ns=int(dur[-1]),
        grid=_triple(aligned(events.geometry, "grid", longest)[0]),
        block=_triple(aligned(events.geometry, "block", longest)[0]),
        registers=registers if registers >= 0 else None,
        occupancy=occupancy if occupancy == occupancy else None,  # NaN is not equal to itself
    )


def _triple(values: Column) -> tuple[int, ...] | None:
    return tuple(values.tolist()) if values[0] > 0 else None


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
