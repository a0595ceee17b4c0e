"""How many sectors and lines of memory the lanes of a warp touch, and how much of what moves they have asked for.

Source: NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; sectors of 32 bytes from compute
capability 6.0 on, lines of 128 before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import FieldError
from ..kernels.fields import MAX_EXTENT
from ..numeric import Number, where
from .amounts import count as counted
from .lanes import pattern as patterns
from .lanes.blocks import LINE, SECTOR, blocks_of_stride
from .lanes.coalesced import Coalescing, of_pattern
from .lanes.coalescing_advice import Asked, advised
from .lanes.coalescing_reasons import reasons
from .lanes.pattern import Pattern, Warp
from .lanes.request import WIDTHS, Access, nvidia, one_of, signed, signed_column

_GRANULARITIES = (SECTOR, LINE)
_FETCHES = (32, 64, 128)  # of L2 from DRAM. Source: CUDA Runtime API, cudaLimitMaxL2FetchGranularity
_WALKS = ("row", "column")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStrides:
    """As `Coalescing`, of one request for each of many strides."""

    sectors: Number
    lines: Number
    bytes_moved: Number
    efficiency: Number


def coalescing(
    *,
    element_bytes: int = 4,
    stride: int | None = None,
    offset: int = 0,
    vector: int = 1,
    struct_bytes: int | None = None,
    walk: str | None = None,
    pitch: int | None = None,
    addresses: str | Sequence[int] | None = None,
    active: str | None = None,
    warps: int = 1,
    store: bool = False,
    granularity: int = SECTOR,
    fetch_bytes: int = 64,
    cc: str = "9.0",
) -> Coalescing:
    """What warps touch: thread t accesses `vector` elements, `stride` (1) such vectors after t - 1, from `offset` on.

    In the place of a stride: `struct_bytes` from one record to the next, of which one field is read; `walk` over a
    matrix of `pitch` elements in a row, along a row or down a column; or `addresses` in bytes, an expression in
    `lane`, `warp`, `thread` and `pitch`, or one for each lane. All count from a place that is aligned to a line.
    `active` lanes are as `16`, `0-7,16` or a mask; `fetch_bytes` is what L2 fetches from DRAM at once.

    Raises:
        FieldError: a field is not what it should be, or does not go with another.
        UnknownNameError: no such compute capability.
        UnsupportedError: it is that of another maker.
    """
    able = nvidia(cc)
    access = Access.of(element_bytes, vector, able)
    asked = _asked(access, stride, struct_bytes, walk, pitch, addresses)
    warp = Warp(lanes=patterns.active_lanes(active, able.warp_size), size=able.warp_size, access_bytes=access.bytes)
    count, first = counted("warps", warps, patterns.MOST_REQUESTS), signed("offset", offset) * access.element_bytes
    pattern = _pattern(addresses, pitch, asked, warp, first, count)
    found = of_pattern(
        pattern,
        granularity=one_of("granularity", granularity, _GRANULARITIES),
        fetch_bytes=one_of("fetch_bytes", fetch_bytes, _FETCHES),
        is_store=store,
    )
    return replace(found, why=reasons(found, pattern, asked.between), advice=advised(found, pattern, asked))


def _asked(access: Access, stride: Any, struct_bytes: Any, walk: str | None, pitch: Any, addresses: Any) -> Asked:
    """What was asked for: one way to say where lanes access.

    Raises:
        FieldError: there are two, or one is not what it should be.
    """
    ways = {"stride": stride, "struct_bytes": struct_bytes, "walk": walk, "addresses": addresses}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise FieldError(f"{given[1]} does not go with {given[0]}; right would be one of {', '.join(ways)}")
    if walk is not None:
        return Asked(between=_of_walk(walk, pitch, access), walk=walk, struct_bytes=None)
    if pitch is not None and addresses is None:
        raise FieldError("pitch goes with walk or addresses; right would be --walk column")
    if struct_bytes is not None:
        size = counted("struct_bytes", struct_bytes, MAX_EXTENT)
        if size < access.bytes:
            raise FieldError(f"struct_bytes must be at least the {access.bytes} bytes that are read of it, got {size}")
        return Asked(between=size, walk=None, struct_bytes=size)
    if addresses is not None:
        return Asked(between=None, walk=None, struct_bytes=None)
    step = 1 if stride is None else signed("stride", stride)
    return Asked(between=step * access.bytes, walk=None, struct_bytes=None)


def _of_walk(walk: str, pitch: Any, access: Access) -> int:
    if walk not in _WALKS:
        raise FieldError(f"walk must be {' or '.join(_WALKS)}, got {walk[:60]!r}")
    if pitch is None:
        raise FieldError("pitch: none given; right would be --pitch N, the elements from one row to the next")
    row = counted("pitch", pitch, MAX_EXTENT) * access.element_bytes
    return row if walk == "column" else access.bytes


def _pattern(
    addresses: str | Sequence[int] | None, pitch: Any, asked: Asked, warp: Warp, first: int, warps: int
) -> Pattern:
    """What lanes access, from byte `first` on."""
    if addresses is None:
        assert asked.between is not None
        return patterns.strided(first, asked.between, warp, warps)
    if first:
        raise FieldError("offset does not go with addresses; right would be to add it there")
    others = {} if pitch is None else {"pitch": counted("pitch", pitch, MAX_EXTENT)}
    return patterns.given(addresses, warp, ("warp", warps), others)


def coalescing_of_strides(
    element_bytes: int, stride: Any, offset: Any = 0, *, lanes: int = 32, granularity: int = SECTOR
) -> OfStrides:
    """One request of lanes 0 up to `lanes` for each stride, a number or an array of many; see `coalescing`.

    Raises:
        FieldError: a field is not what it should be.
    """
    width, size = one_of("element_bytes", element_bytes, WIDTHS), one_of("granularity", granularity, _GRANULARITIES)
    first, between = 1.0 * signed_column("offset", offset) * width, 1.0 * signed_column("stride", stride) * width
    count = counted("lanes", lanes, patterns.MOST_LANES)
    sectors, lines = (blocks_of_stride(first, between, count, block) for block in _GRANULARITIES)
    moved = (sectors if size == SECTOR else lines) * size
    distinct = where(between == 0, 1.0 * width, 1.0 * width * count)
    return OfStrides(sectors=sectors, lines=lines, bytes_moved=moved, efficiency=distinct / moved)
