"""What hardware counters say of a kernel: what limits it, why warps stall, how it uses memory, pipes and the SM.

Everything is from a report of Nsight Compute, in the names of its raw page, of its details page or of nvprof; what is
not in the report is None, and told as not looked at. Shares are 0..1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..traces.events import Caution
from ..traces.records.ncu_csv import KernelProfile, NcuReport
from . import ncu_metrics
from .finding import Finding
from .ncu_findings import drawn
from .ncu_quantities import (
    Access,
    Conflicts,
    Occupancy,
    Pipe,
    Scheduler,
    Speed,
    Stall,
    accesses,
    conflicts,
    occupancy,
    pipes,
    scheduler,
    speed,
    stalls,
)

_CACHES = ("l2_tex_hit_rate", "global_hit_rate", "tex_cache_hit_rate")
_SECTIONS = {
    "speed": "SpeedOfLight", "scheduler": "SchedulerStats", "stalls": "WarpStateStats",
    "accesses": "MemoryWorkloadAnalysis_Tables", "conflicts": "MemoryWorkloadAnalysis_Tables",
    "pipes": "ComputeWorkloadAnalysis", "occupancy": "Occupancy",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One kernel. `not_counted` are questions that the report has no counters for, with the section that has them."""

    kernel: str
    block: str
    grid: str
    invocations: int
    time_s: float | None
    speed: Speed | None
    scheduler: Scheduler | None
    stalls: tuple[Stall, ...]
    accesses: tuple[Access, ...]
    conflicts: tuple[Conflicts, ...]
    pipes: tuple[Pipe, ...]
    occupancy: Occupancy | None
    hit_rates: dict[str, float]
    lanes_share: float | None  # threads active in an instruction, of a warp
    findings: tuple[Finding, ...]
    not_counted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NcuAnalysis:
    source: str
    kernels: tuple[Counted, ...]
    cautions: tuple[Caution, ...]


def analyze_counters(report: NcuReport) -> NcuAnalysis:
    """Every kernel of a report, in its order."""
    return NcuAnalysis(source=report.source, kernels=tuple(map(_counted, report.kernels)), cautions=report.cautions)


def _counted(profile: KernelProfile) -> Counted:
    time = profile.metric("gpu__time_duration.sum", "Duration", "gpu__time_duration.avg")
    rates = {name: found for name in _CACHES if (found := ncu_metrics.value(profile, name)) is not None}
    found = {
        "speed": speed(profile), "scheduler": scheduler(profile), "stalls": stalls(profile), "pipes": pipes(profile),
        "accesses": accesses(profile), "conflicts": conflicts(profile), "occupancy": occupancy(profile),
    }  # fmt: skip
    lanes = ncu_metrics.value(profile, "warp_execution_efficiency")
    return Counted(
        kernel=profile.kernel, block=profile.block, grid=profile.grid, invocations=profile.invocations,
        time_s=None if time is None else time.value, hit_rates=rates, lanes_share=lanes,
        findings=tuple(drawn(found, lanes)), not_counted=tuple(_not_counted(found)), **found,
    )  # fmt: skip


def _not_counted(found: dict[str, object]) -> Iterator[str]:
    for name, section in _SECTIONS.items():
        if not found[name]:
            yield f"{name}: right would be --section {section}"
