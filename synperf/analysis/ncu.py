"""What hardware counters say of a kernel: what limits it, why warps stall, how it uses memory, pipes and the SM.

Everything is from a report of Nsight Compute, in the names of its raw page, of its details page or of nvprof; what is
not in the report is None, and told as not looked at. Shares are 0..1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..light_classes import dataclass
from ..traces.events import Caution
from ..traces.records.ncu_csv import KernelProfile, NcuReport
from .finding import Finding
from .ncu_findings import drawn
from .ncu_quantities import Counters, counters

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
    counters: Counters
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
    found = counters(profile)
    return Counted(
        kernel=profile.kernel, block=profile.block, grid=profile.grid, invocations=profile.invocations,
        time_s=None if time is None else time.value, counters=found, findings=tuple(drawn(found)),
        not_counted=tuple(_not_counted(found)),
    )  # fmt: skip


def _not_counted(found: Counters) -> Iterator[str]:
    for name, section in _SECTIONS.items():
        if not getattr(found, name):
            yield f"{name}: right would be --section {section}"
