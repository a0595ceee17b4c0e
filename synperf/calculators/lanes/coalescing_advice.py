"""Changes of an access to global memory that make it better, each counted again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...units import format_percent
from .blocks import LINE, SECTOR
from .coalesced import Coalescing, each, of_pattern
from .pattern import Pattern
from .request import WIDTHS


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the pattern was described, which decides what can be changed about it."""

    between: int | None  # bytes from a thread to the next; None of an expression or a list
    walk: str | None
    struct_bytes: int | None


def advised(found: Coalescing, pattern: Pattern, asked: Asked) -> tuple[str, ...]:
    """Sentences, the smallest change first; what does not help is left out."""
    if not found.aligned:
        return (_narrower(found, pattern),)
    better, best = [], found
    for said, changed in _changes(pattern, asked, "store" if found.is_store else "read"):
        new = _again(found, changed)
        if new.sector_efficiency > best.sector_efficiency and new.sectors <= found.sectors:
            better.append(f"{said}: {_now(new)}")
            best = new
    if not better:
        better += [*_wider(found, pattern), *_nothing(found)]
    return (*better, *(() if found.poor else (_cached(found),)))


def _again(found: Coalescing, changed: Pattern) -> Coalescing:
    return of_pattern(changed, granularity=found.granularity, fetch_bytes=found.fetch_bytes, is_store=found.is_store)


def _narrower(found: Coalescing, pattern: Pattern) -> str:
    width = pattern.piece_bytes
    new = _again(found, replace(pattern, addresses=pattern.pieces(), access_bytes=width))
    return (f"use instructions of {width} bytes, of which all addresses are multiples: "
            f"{each(new.sectors_per_request, 'sector')} a request")  # fmt: skip


def _nothing(found: Coalescing) -> Iterator[str]:
    if found.poor and found.sectors == found.ideal_sectors_per_request * found.requests:
        yield "none: no order of these bytes takes fewer sectors"


def _now(new: Coalescing) -> str:
    return f"{each(new.sectors_per_request, 'sector')} a request, {format_percent(new.sector_efficiency)} of them used"


def _changes(pattern: Pattern, asked: Asked, verb: str) -> Iterator[tuple[str, Pattern]]:
    past = int(pattern.addresses.min()) % SECTOR
    if past:
        said = f"begin at a multiple of {SECTOR} bytes: {SECTOR - past} later, or {past} earlier"
        yield said, replace(pattern, addresses=pattern.addresses - past)
    if asked.struct_bytes is not None:
        size = asked.struct_bytes
        whole = f", or {verb} the {size} bytes whole if all are used" if size in WIDTHS else ""
        yield f"keep each field in an array of its own (SoA){whole}", _dense(pattern, pattern.access_bytes)
    else:
        yield _how_dense(asked, verb), _dense(pattern, pattern.access_bytes)


def _how_dense(asked: Asked, verb: str) -> str:
    if asked.walk == "column":
        return f"let neighbouring lanes go along a row, or {verb} rows and take the column in shared memory"
    if asked.between is not None:
        return "let neighbouring lanes take neighbouring elements (stride 1)"
    return f"{verb} the same bytes side by side, through shared memory if lanes have them in another order"


def _dense(pattern: Pattern, access_bytes: int) -> Pattern:
    """The different accesses of each request side by side, each request from the start of a line."""
    order = np.argsort(pattern.addresses, axis=1, kind="stable")
    rising = np.take_along_axis(pattern.addresses, order, axis=1)
    steps = np.diff(rising, axis=1, prepend=rising[:, :1]) > 0
    places = np.empty_like(pattern.addresses)
    np.put_along_axis(places, order, np.cumsum(steps, axis=1), axis=1)
    apart = -(-places.shape[1] * access_bytes // LINE) * LINE
    starts = np.arange(len(places), dtype=np.int64)[:, None] * apart
    return replace(pattern, addresses=starts + places * access_bytes, access_bytes=access_bytes)


def _wider(found: Coalescing, pattern: Pattern) -> Iterator[str]:
    """One instruction for several, where lanes lie side by side already."""
    times = WIDTHS[-1] // found.access_bytes
    if times <= 1 or found.distinct_bytes < found.requested_bytes or found.sectors > found.ideal_sectors_per_request:
        return
    new = _again(found, _dense(pattern, WIDTHS[-1]))
    yield f"{WIDTHS[-1]} bytes a lane (float4): 1 instruction for {times}, and as much moves: {_now(new)}"


def _cached(found: Coalescing) -> str:
    """What hints to the caches do, and do not."""
    if found.is_store:
        return "what is not read again soon may be stored with __stcs, which leaves L2 to what is"
    return ("what is read once may be loaded with __ldcs, which leaves L2 to what is read again; __ldg has gained "
            "nothing since 7.0, where one cache serves all loads; prefetching hides latency and "
            "moves as much")  # fmt: skip
