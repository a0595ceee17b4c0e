"""The traffic of a pattern of accesses to global memory."""

from __future__ import annotations

from dataclasses import dataclass

from .blocks import LINE, SECTOR, Touched, touched, unique_blocks
from .pattern import Pattern

GOOD = 0.8  # of what moves, a rule of thumb: an access that begins inside a sector has it, and need not be changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Coalescing:
    """Counts are sums over all requests, one for each warp.

    `efficiency` is the different bytes that each request asks for over `bytes_moved`, at the granularity;
    `sector_efficiency` and `line_efficiency` are those of both, and `requested_efficiency`, which profilers show and
    which may exceed 1, counts a byte for every lane that asks for it. `poor` is an efficiency below 0.8. `dram_bytes`
    are those of all blocks that L2 fetches, each once. With `aligned` false the access faults. `verdict` is
    `coalesced` where no order of the bytes takes fewer sectors, and `coalesced, but not aligned` where only the start
    is to blame. `partial_sectors` have bytes that their request leaves out. `addresses` and `lanes` are of the first
    request.
    """

    verdict: str
    requests: int
    active_lanes: int
    access_bytes: int
    is_store: bool
    aligned: bool
    granularity: int
    sectors: int
    lines: int
    bytes_moved: int
    efficiency: float
    sector_efficiency: float
    line_efficiency: float
    requested_efficiency: float
    poor: bool
    sectors_per_request: float
    lines_per_request: float
    ideal_sectors_per_request: float
    requested_bytes: int
    distinct_bytes: int
    unique_sectors: int
    unique_lines: int
    partial_sectors: int
    fetch_bytes: int
    dram_bytes: int
    addresses: tuple[int, ...]
    lanes: tuple[int, ...]
    why: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def is_poor(efficiency: float) -> bool:
    """Whether so small a share of what moves is asked for that the access wants a change: below 80 %."""
    return efficiency < GOOD


def each(mean: float, noun: str) -> str:
    """`1 sector`, `4 sectors`, `4.5 sectors`: of the mean request."""
    return f"{mean:.4g} {noun}" if mean == 1 else f"{mean:.4g} {noun}s"


def of_pattern(pattern: Pattern, *, granularity: int, fetch_bytes: int, is_store: bool) -> Coalescing:
    """The traffic, without its reasons."""
    found, requests = touched(pattern), pattern.num_requests
    by_sector, by_line = found.sectors * SECTOR, found.lines * LINE
    moved = by_sector if granularity == SECTOR else by_line
    return Coalescing(
        verdict=_verdict(found, int(pattern.addresses.min()), found.distinct_bytes / by_sector),
        requests=requests,
        active_lanes=len(pattern.lanes),
        access_bytes=pattern.access_bytes,
        is_store=is_store,
        aligned=pattern.misaligned is None,
        granularity=granularity,
        sectors=found.sectors,
        lines=found.lines,
        bytes_moved=moved,
        efficiency=found.distinct_bytes / moved,
        sector_efficiency=found.distinct_bytes / by_sector,
        line_efficiency=found.distinct_bytes / by_line,
        requested_efficiency=found.requested_bytes / moved,
        poor=is_poor(found.distinct_bytes / moved),
        sectors_per_request=found.sectors / requests,
        lines_per_request=found.lines / requests,
        ideal_sectors_per_request=found.ideal_sectors / requests,
        requested_bytes=found.requested_bytes,
        distinct_bytes=found.distinct_bytes,
        unique_sectors=found.unique_sectors,
        unique_lines=found.unique_lines,
        partial_sectors=found.partial_sectors,
        fetch_bytes=fetch_bytes,
        dram_bytes=unique_blocks(pattern, fetch_bytes) * fetch_bytes,
        addresses=tuple(pattern.addresses[0].tolist()),
        lanes=tuple(pattern.lanes),
    )


def _verdict(found: Touched, first: int, sector_efficiency: float) -> str:
    if found.sectors == found.ideal_sectors:
        return "coalesced"
    if is_poor(sector_efficiency):
        return "not coalesced"
    return "coalesced, but not aligned" if first % SECTOR else "nearly coalesced"
