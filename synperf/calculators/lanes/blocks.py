"""Blocks of memory that accesses touch: sectors and lines. Of any pattern by counting, of strides by a formula.

Source: NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.memory_tasks import SECTOR_BYTES
from ...numeric import Number, floor, maximum, minimum, where
from .pattern import Addresses, Pattern

SECTOR = int(SECTOR_BYTES)  # what moves between DRAM, L2 and L1 from compute capability 6.0 on
LINE = 128  # four sectors with one tag; what moved before Maxwell. Source: as above


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """Sums over all requests, and what differs among all of them (`unique_`)."""

    sectors: int
    lines: int
    unique_sectors: int
    unique_lines: int
    requested_bytes: int  # by every active lane
    distinct_bytes: int  # of each request, where lanes that read the same bytes count once
    ideal_sectors: int  # that each request would touch if its different bytes lay side by side
    partial_sectors: int  # of which a request takes some bytes and leaves others


def touched(pattern: Pattern) -> Touched:
    """What a pattern touches."""
    pieces = np.sort(pattern.pieces(), axis=1)
    sectors, lines = pieces // SECTOR, pieces // LINE
    distinct = _changes(pieces) * pattern.piece_bytes
    whole = _whole_sectors(pieces, sectors, pattern.piece_bytes)
    num_sectors = int(_changes(sectors).sum())
    return Touched(
        sectors=num_sectors,
        lines=int(_changes(lines).sum()),
        unique_sectors=len(np.unique(sectors)),
        unique_lines=len(np.unique(lines)),
        requested_bytes=pattern.addresses.size * pattern.access_bytes,
        distinct_bytes=int(distinct.sum()),
        ideal_sectors=int(np.sum(-(-distinct // SECTOR))),
        partial_sectors=num_sectors - whole,
    )


def unique_blocks(pattern: Pattern, block_bytes: int) -> int:
    """Blocks of that size that all requests touch together."""
    return len(np.unique(pattern.pieces() // block_bytes))


def _changes(rising: Addresses) -> Addresses:
    """How many different values each row has."""
    found: Addresses = 1 + np.count_nonzero(np.diff(rising, axis=1), axis=1)
    return found


def _whole_sectors(pieces: Addresses, sectors: Addresses, piece_bytes: int) -> int:
    """Sectors of which a request takes every byte."""
    row = np.arange(len(pieces), dtype=np.int64)[:, None]
    fresh = np.concatenate([np.ones((len(pieces), 1), dtype=bool), np.diff(pieces, axis=1) > 0], axis=1)
    keys = np.stack([np.broadcast_to(row, sectors.shape)[fresh], sectors[fresh]], axis=1)
    _, counts = np.unique(keys, axis=0, return_counts=True)
    return int(np.count_nonzero(counts * piece_bytes == SECTOR))


def blocks_of_stride(first: Number, between: Number, lanes: int, block_bytes: int) -> Number:
    """Blocks that accesses touch which lie `between` bytes apart, or columns of such counts; none crosses a block.

    Up to a block apart they leave none out between the first and the last; farther apart each has its own.
    """
    last = first + (lanes - 1.0) * between
    ends = floor(maximum(first, last) / block_bytes) - floor(minimum(first, last) / block_bytes) + 1.0
    return where(abs(between) <= block_bytes, ends, 1.0 * lanes)
