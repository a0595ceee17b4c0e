"""What the warps of a scheduler do: how many are there, could issue, and issue, and what the others wait for.

The judgement is that of `analysis/ncu_findings.py`, which reads the same numbers from a profiler's report.

Source: NVIDIA, "Nsight Compute Profiling Guide", "Warp Scheduler States".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..analysis.ncu_findings import drawn, is_starved, stall_advice
from ..analysis.ncu_quantities import Counters, Scheduler, Stall
from ..errors import FieldError, UnknownNameError
from ..hardware.capability import ComputeCapability, capability
from ..units import format_percent
from .amounts import not_negative, positive

_USUAL = "9.0"  # 64 warps on four schedulers, as on most


@dataclass(frozen=True, slots=True, kw_only=True)
class WarpStates:
    """One scheduler, in the mean of its active cycles.

    `issue_slot_utilization` is the share of cycles in which it issues, `warps_to_fill` how many warps like these would
    issue in every cycle, and so in how many cycles one of them issues once.
    """

    active: float
    eligible: float
    issued: float
    max_warps: float
    latency_bound: bool
    issue_slot_utilization: float
    warps_to_fill: float
    stalls: Mapping[str, float]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def warp_states(
    *,
    active: float,
    eligible: float,
    issued: float,
    stalls: Mapping[str, float] | None = None,
    sm: ComputeCapability | None = None,
) -> WarpStates:
    """Warps of a scheduler: resident, able to issue, and issued in a cycle; `stalls` are cycles or shares by reason.

    Raises:
        FieldError: more are eligible than active, or more issued than eligible or than one a cycle.
        UnknownNameError: a stall reason that Nsight Compute does not have.
    """
    limits = sm or capability(_USUAL)
    most = limits.max_warps_per_sm / limits.warp_unit
    shares = _shares(stalls or {})
    _check(active, eligible, issued, most)
    scheduler = Scheduler(active=active, eligible=eligible, issued=issued)
    found = drawn(_counters(scheduler, shares))
    return WarpStates(
        active=active,
        eligible=eligible,
        issued=issued,
        max_warps=most,
        latency_bound=is_starved(scheduler),
        issue_slot_utilization=issued,
        warps_to_fill=active / issued,
        stalls=shares,
        why=tuple(_why(scheduler, shares)),
        advice=(*(f"{one.title}: {one.advice}" for one in found), *_advice(active, issued, most)),
    )


def _check(active: float, eligible: float, issued: float, most: float) -> None:
    positive(active=active, issued=issued)
    not_negative(eligible=eligible)
    if active > most:
        raise FieldError(f"active must be {most:g} or fewer, the warps that a scheduler holds, got {active:g}")
    if eligible > active:
        raise FieldError(f"eligible must be {active:g} or fewer, the active warps, got {eligible:g}")
    if issued > min(1.0, eligible):
        raise FieldError(f"issued must be {min(1.0, eligible):g} or less a cycle, got {issued:g}")


def _shares(stalls: Mapping[str, float]) -> dict[str, float]:
    """Each reason's share of all, the largest first."""
    for reason, value in stalls.items():
        if reason not in stall_advice():
            raise UnknownNameError.among("stall reason", reason, stall_advice())
        not_negative(**{f"stalls {reason}": value})
    total = sum(stalls.values())
    if stalls and not total:
        raise FieldError("stalls: all are 0; right would be long_scoreboard=6,wait=2")
    order = sorted(stalls, key=lambda reason: -stalls[reason])
    return {reason: stalls[reason] / total for reason in order}


def _counters(scheduler: Scheduler, shares: Mapping[str, float]) -> Counters:
    return Counters(
        speed=None, scheduler=scheduler, stalls=tuple(Stall(reason=r, share=s) for r, s in shares.items()),
        accesses=(), conflicts=(), pipes=(), occupancy=None, hit_rates={}, lanes_share=None,
    )  # fmt: skip


def _why(one: Scheduler, shares: Mapping[str, float]) -> Iterator[str]:
    active, issued = one.active or 0.0, one.issued or 0.0
    yield f"{one.eligible:g} of {active:g} resident warps could issue in a cycle" + (
        ": in some cycles none can, so the scheduler waits for a latency" if is_starved(one) else ": one always can"
    )
    yield f"it issues in {format_percent(issued)} of its cycles; a warp issues every {active / issued:.3g} cycles"
    if shares:
        first, share = next(iter(shares.items()))
        yield f"most of the waiting is {first}, {format_percent(share)}: {stall_advice()[first]['means']}"


def _advice(active: float, issued: float, most: float) -> Iterator[str]:
    fill = active / issued
    if issued >= 1:
        yield "nothing to gain: the scheduler issues in every cycle"
    elif fill <= most:
        yield f"{fill:.3g} warps like these would issue in every cycle, and a scheduler holds {most:g}: raise occupancy"
    else:
        each = fill / most
        yield (
            f"{fill:.3g} warps like these would issue in every cycle, more than the {most:g} that a scheduler holds: "
            f"with all of them each has to issue {each:.3g} times as often (independent instructions, fewer stalls)"
        )
