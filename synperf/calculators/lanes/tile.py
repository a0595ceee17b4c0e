"""A tile of shared memory that lanes access down a column, or by the rows of matrix fragments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import pattern as patterns
from .pattern import Pattern
from .request import Access

FRAGMENT_ROWS, FRAGMENT_BYTES = 8, 16  # of a matrix that ldmatrix loads. Source: PTX ISA, ldmatrix
Place = tuple[int, int]  # a row, and the first element that is accessed in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """`rows` rows that lie `pitch` elements apart; `at` gives the pattern that lanes make with another pitch.

    `places` are those of the lanes, where they are known: then a tile can be swizzled.
    """

    rows: int | None
    pitch: int
    access: Access
    lanes: Sequence[int]
    at: Callable[[int], Pattern]
    places: Sequence[Place] | None = None


def columns(access: Access, rows: int, pitch: int, column: int, lanes: list[int]) -> Tile:
    """Lane i in row i, all in one column."""
    kept = patterns.below(lanes, rows)
    return _placed(access, rows, pitch, kept, [(lane, column) for lane in kept])


def fragments(access: Access, count: int, rows: int | None, pitch: int, column: int, lanes: list[int]) -> Tile:
    """ldmatrix of `count` matrices of 8 rows of 16 bytes: lanes 0 to 7 name the rows of the first, and so on. The
    second lies below the first, the third and fourth to the right of them.
    """
    kept = patterns.below(lanes, FRAGMENT_ROWS * count)
    below, across = 2 * FRAGMENT_ROWS, FRAGMENT_BYTES // access.element_bytes
    return _placed(access, rows, pitch, kept, [(lane % below, column + lane // below * across) for lane in kept])


def _placed(access: Access, rows: int | None, pitch: int, lanes: list[int], places: list[Place]) -> Tile:
    def at(other: int) -> Pattern:
        values = [(row * other + column) * access.element_bytes for row, column in places]
        return patterns.of_numbers(values, access.bytes, lanes)

    return Tile(rows=rows, pitch=pitch, access=access, lanes=lanes, at=at, places=places)
