"""Sequences packed one after another into rows of a fixed length, as variable-length attention (cu_seqlens) takes them.

First-fit decreasing: the longest first, each into the first row that has room; never more than 11/9 of the least
number of rows and 6/9 of one.

Source: G. Dosa, "The Tight Bound of First Fit Decreasing Bin-Packing Algorithm Is FFD(I) <= 11/9 OPT(I) + 6/9",
ESCAPE 2007; bound from below: S. Martello and P. Toth, "Knapsack Problems", Wiley 1990, section 8.3 (L2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import FieldError
from ..kernels.fields import whole
from ..units import format_percent
from .amounts import extent

_MOST = 1_000_000  # sequences of one question


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """`packed` has the lengths of each row and `cu_seqlens` where they begin and end in it.

    `least_bins` is a number of rows that no packing can go below; `is_optimal` says that this one reaches it.
    `attention_overhead` is what attention over whole rows would cost above attention within sequences, which
    cu_seqlens allow: (rows * capacity ** 2) / (sum of squares of lengths) - 1.
    """

    sequences: int
    tokens: int
    capacity: int
    bins: int
    utilization: float
    least_bins: int
    is_optimal: bool
    rows_unpacked: int  # one sequence each
    attention_overhead: float
    packed: tuple[tuple[int, ...], ...]
    cu_seqlens: tuple[tuple[int, ...], ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def packing(lengths: Sequence[int] | np.ndarray, *, capacity: int) -> Packing:
    """Packs sequences of these lengths into rows of `capacity` tokens.

    Raises:
        FieldError: a length or the capacity is not a whole number from 1, or a sequence is longer than a row.
    """
    if not 1 <= len(lengths) <= _MOST:
        raise FieldError(f"lengths must be from 1 to {_MOST:,} whole numbers, got {len(lengths):,}")
    values = np.asarray(whole("lengths", lengths), dtype=np.int64)
    room = extent("capacity", capacity)
    if values.max() > room:
        raise FieldError(f"capacity: {room} is less than the longest sequence; right would be {values.max()} or more")
    rows = _first_fit(np.sort(values)[::-1].tolist(), room)
    least = least_rows(values, room)
    total, squares = int(values.sum()), float((values.astype(np.float64) ** 2).sum())
    return Packing(
        sequences=len(values),
        tokens=total,
        capacity=room,
        bins=len(rows),
        utilization=total / (len(rows) * room),
        least_bins=least,
        is_optimal=len(rows) == least,
        rows_unpacked=len(values),
        attention_overhead=len(rows) * float(room) ** 2 / squares - 1,
        packed=tuple(tuple(row) for row in rows),
        cu_seqlens=tuple(tuple(np.cumsum([0, *row]).tolist()) for row in rows),
        why=_why(total, len(values), len(rows), least, room),
        advice=_advice(total, len(rows), least, room),
    )


def _first_fit(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """Each length into the first row with room: a tree of the most room in each half finds it."""
    leaves = 1 << (len(lengths) - 1).bit_length()
    most = [capacity] * (2 * leaves)
    rows: list[list[int]] = []
    for length in lengths:
        at = 1
        while at < leaves:
            at = 2 * at if most[2 * at] >= length else 2 * at + 1
        if at - leaves == len(rows):
            rows.append([])
        rows[at - leaves].append(length)
        most[at] -= length
        while at > 1:
            at //= 2
            most[at] = max(most[2 * at], most[2 * at + 1])
    return rows


def least_rows(values: np.ndarray, capacity: int) -> int:
    """No packing has fewer rows: for each k, what is above capacity - k shares its row with nothing of k or more."""
    ascending = np.sort(values)
    sums = np.concatenate([[0], np.cumsum(ascending)])
    borders = np.unique(np.concatenate([[0], ascending[ascending <= capacity // 2]]))
    alone = np.searchsorted(ascending, capacity - borders, "right")  # first that is above capacity - k
    half = int(np.searchsorted(ascending, capacity // 2, "right"))  # first that is above half a row
    first = np.searchsorted(ascending, borders, "left")
    large = len(ascending) - np.minimum(half, alone)  # each needs a row of its own
    free = (np.maximum(alone, half) - half) * capacity - (sums[np.maximum(alone, half)] - sums[half])
    over = np.maximum(0, sums[half] - sums[first] - free)
    return int((large + -(-over // capacity)).max())


def _why(tokens: int, sequences: int, rows: int, least: int, capacity: int) -> tuple[str, ...]:
    proven = "no packing has fewer" if rows == least else f"no packing has fewer than {least:,}"
    filled, alone = (format_percent(tokens / (count * capacity)) for count in (rows, sequences))
    return (
        f"{tokens:,} tokens in {rows:,} rows of {capacity:,} fill {filled}; {proven}",
        f"one sequence a row would take {sequences:,} rows and fill {alone}",
    )


def _advice(tokens: int, rows: int, least: int, capacity: int) -> tuple[str, ...]:
    said = [
        "give attention the cu_seqlens of each row: without them tokens attend to other sequences, and it costs more"
    ]
    if rows > least:
        said.append(f"an exact packing could save up to {rows - least:,} rows")
    elif tokens / (rows * capacity) < 0.9:
        said.append("longer rows, or more sequences to choose from, would fill better")
    return tuple(said)
