"""Quantities of one kernel out of the metrics of Nsight Compute, under any of the names that they have."""

from __future__ import annotations

import re
from collections import defaultdict

from ..light_classes import dataclass
from ..traces.records.ncu_csv import KernelProfile
from . import ncu_metrics

_COMPUTE = ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "SOL SM")
_MEMORY = (
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "Mem Throughput",
    "SOL Memory",
)  # fmt: skip
_ACTIVE = ("smsp__warps_active.avg.per_cycle_active", "Active Warps Per Scheduler")
_ELIGIBLE = ("smsp__warps_eligible.avg.per_cycle_active", "Eligible Warps Per Scheduler")
_ELIGIBLE_SM = ("smsp__warps_eligible.sum.per_cycle_active", "eligible_warps_per_cycle")
_ISSUED = ("smsp__issue_active.avg.per_cycle_active", "Issued Warp Per Scheduler")
_SCHEDULERS = 4  # of an SM, in all architectures since Maxwell
_STALL = re.compile(
    r"stall(?:ed)?_([a-z_]+?)(_not_issued)?(?:_per_(?:issue_active|warp_active))?(?:\.(ratio|pct|sum))?$"
)
_SAMPLED = re.compile(r"pcsamp|latency_issue|average_warps_issue|warp_issue_stalled|smsp__average_warp_latency")
_NO_STALL = frozenset(("selected",))  # that warp issues
_PIPE = re.compile(r"sm__(?:inst_executed_)?pipe_(\w+?)(?:_cycles_active)?\.avg\.pct_of_peak_sustained_active$")
_LIMITS = {
    "blocks": ("launch__occupancy_limit_blocks", "Block Limit SM"),
    "registers": ("launch__occupancy_limit_registers", "Block Limit Registers"),
    "shared memory": ("launch__occupancy_limit_shared_mem", "Block Limit Shared Mem"),
    "warps": ("launch__occupancy_limit_warps", "Block Limit Warps"),
    "barriers": ("launch__occupancy_limit_barriers", "Block Limit Barriers"),
}
_THEORETICAL = ("sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy")
_ACHIEVED = ("sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", "achieved_occupancy")
_DIRECTIONS = {"load": "ld", "store": "st"}
_SECTOR_BYTES = 32
_CACHES = ("l2_tex_hit_rate", "global_hit_rate", "tex_cache_hit_rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Of the peak that compute and memory reach."""

    compute_share: float
    memory_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """Warps of one scheduler in a cycle: resident, of these able to issue, and issued."""

    active: float | None
    eligible: float
    issued: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A reason why warps do not issue. `share` is of all stalls."""

    reason: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Global loads or stores. `efficiency` is bytes used of bytes moved; sectors are of 32 bytes."""

    direction: str
    sectors_per_request: float | None
    efficiency: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Accesses to shared memory: wavefronts, and those of them that bank conflicts added."""

    direction: str
    wavefronts: float
    conflicts: float

    @property
    def share(self) -> float:
        return self.conflicts / self.wavefronts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipe:
    """How busy a pipe is while the SM is active."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """`limiters` are all resources that allow the fewest CTAs on an SM, `limits` what each allows."""

    theoretical: float | None
    achieved: float | None
    limits: dict[str, int]
    limiters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """All quantities of a kernel; `lanes_share` are the threads of a warp that are active in an instruction."""

    speed: Speed | None
    scheduler: Scheduler | None
    stalls: tuple[Stall, ...]
    accesses: tuple[Access, ...]
    conflicts: tuple[Conflicts, ...]
    pipes: tuple[Pipe, ...]
    occupancy: Occupancy | None
    hit_rates: dict[str, float]
    lanes_share: float | None


def counters(profile: KernelProfile) -> Counters:
    """What the report has of each."""
    rates = {name: found for name in _CACHES if (found := ncu_metrics.value(profile, name)) is not None}
    return Counters(
        speed=speed(profile), scheduler=scheduler(profile), stalls=stalls(profile), accesses=accesses(profile),
        conflicts=conflicts(profile), pipes=pipes(profile), occupancy=occupancy(profile), hit_rates=rates,
        lanes_share=ncu_metrics.value(profile, "warp_execution_efficiency"),
    )  # fmt: skip


def _number(profile: KernelProfile, names: tuple[str, ...], unit: str | None = None) -> float | None:
    found = profile.metric(*names, unit=unit)
    return None if found is None else found.value


def speed(profile: KernelProfile) -> Speed | None:
    compute, memory = _number(profile, _COMPUTE, ""), _number(profile, _MEMORY, "")
    return None if compute is None or memory is None else Speed(compute_share=compute, memory_share=memory)


def scheduler(profile: KernelProfile) -> Scheduler | None:
    eligible, of_sm = _number(profile, _ELIGIBLE), _number(profile, _ELIGIBLE_SM)
    if eligible is None and of_sm is not None:
        eligible = of_sm / _SCHEDULERS
    if eligible is None:
        return None
    return Scheduler(active=_number(profile, _ACTIVE), eligible=eligible, issued=_number(profile, _ISSUED))


def stalls(profile: KernelProfile) -> tuple[Stall, ...]:
    """The largest first, by the spelling of which there are most: older shares, newer ratios, or samples."""
    spelled: dict[str, dict[str, float]] = defaultdict(dict)
    for metric in profile.metrics:
        match = _STALL.search(metric.name) if _SAMPLED.search(metric.name) else None
        if match and not match[2] and match[1] not in _NO_STALL and metric.value is not None:
            spelled[metric.name.replace(match[1], "*")][match[1]] = metric.value
    found = max(spelled.values(), key=len, default={})
    whole = sum(found.values())
    made = [Stall(reason=reason, share=amount / whole) for reason, amount in found.items() if whole and amount > 0]
    return tuple(sorted(made, key=lambda one: -one.share))


def accesses(profile: KernelProfile) -> tuple[Access, ...]:
    made = [Access(direction=name, sectors_per_request=_sectors(profile, op), efficiency=_efficiency(profile, op))
            for name, op in _DIRECTIONS.items()]  # fmt: skip
    return tuple(one for one in made if one.sectors_per_request is not None or one.efficiency is not None)


def _sectors(profile: KernelProfile, op: str) -> float | None:
    told = ncu_metrics.value(profile, f"g{op}_transactions_per_request")
    if told is not None:
        return told
    parts = [
        _number(profile, (f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum",)) for what in ("sectors", "requests")
    ]
    return parts[0] / parts[1] if parts[0] is not None and parts[1] else None


def _efficiency(profile: KernelProfile, op: str) -> float | None:
    told = ncu_metrics.value(profile, f"g{op}_efficiency")
    used = _number(profile, (f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.ratio",))
    return told if told is not None or used is None else used / _SECTOR_BYTES


def conflicts(profile: KernelProfile) -> tuple[Conflicts, ...]:
    made = []
    for name, op in _DIRECTIONS.items():
        waves = _number(profile, (f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",))
        extra = ncu_metrics.value(profile, f"shared_{op}_bank_conflict")
        if waves and extra is not None:
            made.append(Conflicts(direction=name, wavefronts=waves, conflicts=extra))
    return tuple(made)


def pipes(profile: KernelProfile) -> tuple[Pipe, ...]:
    """The busiest first; of a pipe that is counted in two ways, by cycles and by instructions, the higher one."""
    shares: dict[str, float] = {}
    for metric in profile.metrics:
        match = _PIPE.match(metric.name)
        if match and metric.value is not None:
            shares[match[1]] = max(metric.value, shares.get(match[1], 0.0))
    return tuple(Pipe(name=name, share=share) for name, share in sorted(shares.items(), key=lambda one: -one[1]))


def occupancy(profile: KernelProfile) -> Occupancy | None:
    limits = {name: int(found) for name, names in _LIMITS.items() if (found := _number(profile, names)) is not None}
    theoretical, achieved = _number(profile, _THEORETICAL, ""), _number(profile, _ACHIEVED)
    if not limits and theoretical is None and achieved is None:
        return None
    fewest = min(limits.values(), default=0)
    limiters = tuple(name for name, limit in limits.items() if limit == fewest)
    return Occupancy(theoretical=theoretical, achieved=achieved, limits=limits, limiters=limiters)
