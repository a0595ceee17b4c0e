"""Why a pattern touches as many sectors as it does, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ...units import counted, format_percent
from .blocks import LINE, SECTOR
from .coalesced import GOOD, Coalescing, each
from .pattern import Pattern


def reasons(found: Coalescing, pattern: Pattern, between: int | None) -> tuple[str, ...]:
    """Sentences with the numbers in them; `between` is what the addresses of neighbouring threads differ by."""
    return tuple(_said(found, pattern, between))


def _said(f: Coalescing, pattern: Pattern, between: int | None) -> Iterator[str]:
    if not f.aligned:
        yield (f"the access faults: an instruction of {f.access_bytes} bytes needs a multiple of them, and one is at "
               f"byte {pattern.misaligned}")  # fmt: skip
    yield _traffic(f)
    yield from _cause(f, between)
    yield _two_models(f)
    if f.is_store and f.partial_sectors:
        yield (f"{counted(f.partial_sectors, 'sector')} of {f.sectors:,} are written in part: L2 keeps the bytes of "
               "the others, and DRAM with ECC reads them first")  # fmt: skip
    if f.is_store and f.requested_bytes > f.distinct_bytes:
        yield "lanes that store to one address: one of them wins, and which is not defined"
    yield from _shared(f)
    yield _verdict(f)


def _traffic(f: Coalescing) -> str:
    each = f"{counted(f.active_lanes, 'lane')} of {counted(f.requests, 'warp')}" if f.requests > 1 else counted(
        f.active_lanes, "lane")  # fmt: skip
    verb = "store" if f.is_store else "ask for"
    differ = "" if f.requested_bytes == f.distinct_bytes else f", {f.distinct_bytes:,} of them different,"
    blocks = counted(f.sectors, "sector") if f.granularity == SECTOR else counted(f.lines, "line")
    return (f"{each} {verb} {f.requested_bytes:,} bytes{differ} in {blocks} of {f.granularity} bytes: "
            f"{f.bytes_moved:,} move, {format_percent(f.efficiency)} of them used")  # fmt: skip


def _cause(f: Coalescing, between: int | None) -> Iterator[str]:
    if between is None:
        yield (f"side by side the same bytes would take {each(f.ideal_sectors_per_request, 'sector')} a request; "
               f"these lie in {f.sectors_per_request:.4g}")  # fmt: skip
        return
    gap = abs(between)
    if gap == 0:
        yield "all lanes access one address, which moves once and is broadcast"
    elif gap >= SECTOR and gap > f.access_bytes:
        yield f"neighbouring lanes are {gap} bytes apart, a sector or more: no two share one"
    elif gap > f.access_bytes:
        yield f"neighbouring lanes are {gap} bytes apart and take {f.access_bytes}: the rest between them moves unused"
    elif f.sectors_per_request > f.ideal_sectors_per_request:
        past = min(f.addresses) % SECTOR
        yield (f"lanes lie side by side, but begin {past} bytes past the start of a sector: "
               f"{each(f.sectors_per_request, 'sector')} a request, "
               f"{f.ideal_sectors_per_request:.4g} are the least")  # fmt: skip
    else:
        yield f"lanes lie side by side: {each(f.sectors_per_request, 'sector')} a request, which is the least"


def _blocks(f: Coalescing) -> str:
    return f"{each(f.sectors_per_request, 'sector')}, {each(f.lines_per_request, 'line')}"


def _two_models(f: Coalescing) -> str:
    return (f"by {SECTOR}-byte sectors, which move since compute capability 6.0, "
            f"{format_percent(f.sector_efficiency)}; by {LINE}-byte lines, as older texts count, "
            f"{format_percent(f.line_efficiency, 4)}")  # fmt: skip


def _shared(f: Coalescing) -> Iterator[str]:
    if f.requests == 1:
        return
    if f.unique_sectors < f.sectors:
        yield (f"a request: {_blocks(f)}; of all warps only {f.unique_sectors:,} sectors and {f.unique_lines:,} "
               "lines differ: L1 or L2 serves the others if it still has them")  # fmt: skip
    else:
        yield f"a request: {_blocks(f)}; no two warps share a sector"


def _verdict(f: Coalescing) -> str:
    is_least = f.sectors == f.ideal_sectors_per_request * f.requests
    said = "below" if f.poor else "not below"
    but = (
        f", though no fewer than {each(f.sectors_per_request, 'sector')} hold these bytes"
        if f.poor and is_least
        else ""
    )
    return f"{format_percent(f.efficiency)} is {said} {format_percent(GOOD)}, where an access wants a change{but}"
