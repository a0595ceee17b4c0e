"""Rows of SMs and the blocks in them: tiles as they were placed, or put together where there are too many to see."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ..light_classes import dataclass
from ..scheduling import Placement

NUM_SHADES = 5
_ONE_SHADE = 3  # of blocks of one length
IN_TURN = (3, 1)  # of neighbours
_MOST_ROWS = 400
_MOST_BLOCKS = 6000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Blocks of one SM in steps, the first at 0; a shade from 0, the shortest, on."""

    starts: np.ndarray
    lengths: np.ndarray
    shades: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows, the busiest first. `shades` are the shortest and longest tile of each that occurs, `in_turn` those of
    neighbouring tiles where shades tell tiles apart instead.

    A row stands for `sms_per_row` SMs, of which it is the busiest. Blocks are tiles unless `are_merged`.
    """

    rows: list[Row]
    sms_per_row: int
    are_merged: bool
    shades: dict[int, tuple[float, float]] = field(default_factory=dict)
    in_turn: tuple[int, ...] = ()


def rows_of(placed: Placement) -> Rows:
    """Rows of tiles that were placed one by one."""
    shade = _shades(placed.cost)
    found = {int(s): placed.cost[shade == s] for s in np.unique(shade)}
    return _rows(placed, shade, shades={s: (float(cost.min()), float(cost.max())) for s, cost in found.items()})


def rows_in_turn(placed: Placement, lengths: np.ndarray) -> Rows:
    """Rows of tiles of these lengths that stand in a row and are cut; neighbours differ in shade."""
    middles = np.cumsum(placed.cost) - placed.cost / 2
    tile = np.searchsorted(np.cumsum(lengths), middles)
    return _rows(placed, np.where(tile % 2, *IN_TURN), in_turn=IN_TURN)


def _rows(placed: Placement, shade: np.ndarray, **said: Any) -> Rows:
    order = np.argsort(-(placed.loads / placed.makespan).round(9), kind="stable")  # as they are, but for rounding
    sms_per_row = -(-placed.num_sms // _MOST_ROWS)
    are_merged = len(placed.cost) > _MOST_BLOCKS
    found = (_merged if are_merged else _single)(placed, shade, order[::sms_per_row])
    return Rows(rows=found, sms_per_row=sms_per_row, are_merged=are_merged, **said)


def rows_of_two(busiest: float, mean: float, num_sms: int) -> Rows:
    """Rows where tiles are too many to place: the busiest SM, and the mean of all others."""
    other = (mean * num_sms - busiest) / max(num_sms - 1, 1)
    count = min(num_sms, _MOST_ROWS)
    rows = [_row(np.array([length])) for length in (busiest, *[other] * (count - 1))]
    return Rows(rows=rows, sms_per_row=-(-num_sms // count), are_merged=True)


def _row(lengths: np.ndarray) -> Row:
    return Row(starts=np.zeros(len(lengths)), lengths=lengths, shades=np.full(len(lengths), _ONE_SHADE))


def _shades(cost: np.ndarray) -> np.ndarray:
    """The shade of every block: its place between the shortest and the longest one."""
    least, most = cost.min(), cost.max()
    if most - least <= 1e-9 * most:
        return np.full(len(cost), _ONE_SHADE)
    shade: np.ndarray = np.minimum((cost - least) / (most - least) * NUM_SHADES, NUM_SHADES - 1)
    return shade.astype(np.int64)


def _single(placed: Placement, shade: np.ndarray, sms: np.ndarray) -> list[Row]:
    """A block per tile or piece."""
    order = np.lexsort((placed.start, placed.sm))
    ends = np.cumsum(placed.counts)
    found = (order[ends[sm] - placed.counts[sm] : ends[sm]] for sm in sms)
    return [Row(starts=placed.start[own], lengths=placed.cost[own], shades=shade[own]) for own in found]


def _merged(placed: Placement, shade: np.ndarray, sms: np.ndarray) -> list[Row]:
    """A block per shade, the longest tiles first."""
    work = np.zeros((placed.num_sms, NUM_SHADES))
    np.add.at(work, (placed.sm, shade), placed.cost)
    lengths = work[sms, ::-1]
    starts = np.cumsum(lengths, axis=1) - lengths
    shades = np.arange(NUM_SHADES)[::-1]
    kept = lengths > 0
    return [Row(starts=s[k], lengths=n[k], shades=shades[k]) for s, n, k in zip(starts, lengths, kept, strict=True)]
