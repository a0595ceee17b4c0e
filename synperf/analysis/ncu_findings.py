"""What to do about a kernel, from its counters. Advice on stalls and limits is in ncu_advice.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..units import format_percent
from .finding import Finding
from .ncu_quantities import Access, Conflicts, Counters, Occupancy, Pipe, Scheduler, Speed, Stall

_FILE = Path(__file__).parent / "ncu_advice.toml"
_HIGH, _LOW = 0.8, 0.6  # of a peak: near it, and far from it, as Nsight Compute's own rules have them
_ELIGIBLE = 1.0  # warps of a scheduler: with fewer it has cycles without any
_EFFICIENT = 0.8  # of the bytes of global accesses used; contiguous ones that are shifted by one element just reach it
_MOST_SECTORS = 16.0  # of a request of 16 bytes a thread, the widest
_STALL = 0.3  # of all stalls
_CONFLICTS = 0.1  # of the wavefronts
_LANES = 0.8  # of a warp
_OCCUPANCY_GAP = 0.1  # between theoretical and achieved


@cache
def _advice() -> dict[str, dict[str, dict[str, str]]]:
    with _FILE.open("rb") as file:
        return tomllib.load(file)


def stall_advice() -> dict[str, dict[str, str]]:
    """What each stall reason means and what to do about it."""
    return _advice()["stall"]


def is_starved(one: Scheduler) -> bool:
    """Whether a scheduler has cycles in which none of its warps can issue."""
    return one.eligible < _ELIGIBLE


def drawn(found: Counters) -> Iterator[Finding]:
    """The findings of a kernel, the broadest first."""
    yield from _of_speed(found.speed)
    yield from _of_scheduler(found.scheduler)
    yield from _of_stalls(found.stalls, found.scheduler)
    for access in found.accesses:
        yield from _of_access(access)
    for conflicts in found.conflicts:
        yield from _of_conflicts(conflicts)
    yield from _of_pipes(found.pipes)
    yield from _of_occupancy(found.occupancy, found.scheduler)
    yield from _of_lanes(found.lanes_share)


def _of_speed(speed: Speed | None) -> Iterator[Finding]:
    if speed is None:
        return
    evidence = (
        f"compute at {format_percent(speed.compute_share)}, memory at {format_percent(speed.memory_share)} of the peak"
    )
    if max(speed.compute_share, speed.memory_share) >= _HIGH:
        limit = "compute" if speed.compute_share >= speed.memory_share else "memory"
        advice = "It is near the peak: only less work helps" + (" (fusion, fewer bytes)." if limit == "memory" else ".")
        yield Finding(title=f"The kernel is limited by {limit}", evidence=evidence, advice=advice)
    elif max(speed.compute_share, speed.memory_share) < _LOW:
        yield Finding(
            title="The kernel is limited by latency, neither by compute nor by memory", evidence=evidence,
            advice="See the stalls and the occupancy; a grid that does not fill the GPU looks the same.",
        )  # fmt: skip


def _of_scheduler(one: Scheduler | None) -> Iterator[Finding]:
    if one is not None and is_starved(one):
        parts = [(one.active, "active"), (one.eligible, "eligible"), (one.issued, "issued")]
        warps = ", ".join(f"{value:.3g} {name}" for value, name in parts if value is not None)
        yield Finding(
            title="Schedulers run out of warps that can issue: latency bound",
            evidence=f"{warps} warps a scheduler and cycle",
            advice="Have more warps (occupancy), or more independent instructions in each; see the stalls.",
        )  # fmt: skip


def _of_stalls(stalls: tuple[Stall, ...], one: Scheduler | None) -> Iterator[Finding]:
    """Stalls matter only where schedulers do not issue in most cycles."""
    if one is not None and (one.issued or 0.0) >= _HIGH:
        return
    for stall in stalls:
        known = stall_advice().get(stall.reason)
        if stall.share >= _STALL and known:
            yield Finding(
                title=f"Warps stall: {known['means']}", advice=known["advice"],
                evidence=f"{stall.reason} is {format_percent(stall.share)} of the stalls",
            )  # fmt: skip


def _of_access(access: Access) -> Iterator[Finding]:
    sectors = "" if access.sectors_per_request is None else f", {access.sectors_per_request:.3g} sectors a request"
    title = f"Global {access.direction}s are not coalesced"
    advice = (
        "Let neighbouring threads use neighbouring addresses: a structure of arrays, the fast index on threadIdx.x,"
        " aligned rows; or go through shared memory."
    )
    if access.efficiency is not None:
        if access.efficiency < _EFFICIENT:
            evidence = f"{format_percent(access.efficiency)} of the bytes moved are used{sectors}"
            yield Finding(title=title, evidence=evidence, advice=advice)
    elif access.sectors_per_request is not None and access.sectors_per_request > _MOST_SECTORS:
        ideal = "4, 8 or 16 are ideal for elements of 4, 8 or 16 bytes"
        yield Finding(
            title=title, evidence=f"{access.sectors_per_request:.3g} sectors a request: {ideal}", advice=advice
        )


def _of_conflicts(one: Conflicts) -> Iterator[Finding]:
    if one.share >= _CONFLICTS:
        ways = one.wavefronts / max(one.wavefronts - one.conflicts, 1)
        yield Finding(
            title=f"Shared-memory {one.direction}s have bank conflicts",
            evidence=f"{format_percent(one.share)} of {one.wavefronts:,.0f} wavefronts are conflicts:"
            f" {ways:.3g} times as many as needed",
            advice="Pad rows by one element (tile[32][33], not [33][32]) or swizzle the column (col ^ row), so that the"
            " lanes of a warp use different banks.",
        )  # fmt: skip


def _of_pipes(pipes: tuple[Pipe, ...]) -> Iterator[Finding]:
    if pipes and pipes[0].share >= _HIGH:
        yield Finding(
            title=f"The {pipes[0].name} pipe is the limit",
            evidence=f"busy {format_percent(pipes[0].share)} of the active cycles",
            advice="Move work to another pipe, to a smaller format or to tensor cores, or do less of it.",
        )  # fmt: skip


def _of_occupancy(one: Occupancy | None, scheduling: Scheduler | None) -> Iterator[Finding]:
    """Low occupancy matters only where schedulers lack warps, as far as that is known."""
    if one is None:
        return
    starved = scheduling is None or is_starved(scheduling)
    if one.theoretical is not None and one.theoretical < 1 and one.limiters and starved:
        limits = ", ".join(f"{name} {limit}" for name, limit in one.limits.items())
        yield Finding(
            title=f"Occupancy is limited by {' and '.join(one.limiters)}",
            evidence=f"theoretical {format_percent(one.theoretical)}; CTAs of an SM by resource: {limits}",
            advice=" ".join(_advice()["limit"][name]["advice"] for name in one.limiters),
        )  # fmt: skip
    if one.theoretical is not None and one.achieved is not None and one.theoretical - one.achieved > _OCCUPANCY_GAP:
        achieved, theoretical = format_percent(one.achieved), format_percent(one.theoretical)
        yield Finding(
            title="SMs hold fewer warps than they could",
            evidence=f"achieved occupancy {achieved}, theoretical {theoretical}",
            advice="Even out CTAs, and have more of them: a part-filled last wave, unequal work, launching.",
        )  # fmt: skip


def _of_lanes(lanes: float | None) -> Iterator[Finding]:
    if lanes is not None and lanes < _LANES:
        yield Finding(
            title="Warps run with threads switched off", evidence=f"{format_percent(lanes)} of the lanes are active",
            advice="Let the threads of a warp take the same branch, and use blocks of whole warps.",
        )  # fmt: skip
