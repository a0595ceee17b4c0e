"""A tile whose rows are permuted by an exclusive or with their number, so that columns too go over all banks.

Source: NVIDIA, CUTLASS documentation, "Efficient GEMM in CUDA", on the layout of shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import pattern as patterns
from .conflicts import WORD
from .pattern import Pattern
from .tile import Tile


@dataclass(frozen=True, slots=True, kw_only=True)
class Swizzle:
    """Access `place` of `row` is kept at place ^ ((row // `together`) % `group`), of `places` in a row."""

    places: int
    group: int
    together: int  # rows that go over the banks once
    access_bytes: int
    unit: str  # what a place is called

    @property
    def formula(self) -> str:
        """As it is written in a kernel."""
        row = "row" if self.together == 1 else f"row / {self.together}"
        return f"{self.unit} ^ ({row}) % {self.group}" if self.together > 1 else f"{self.unit} ^ {row} % {self.group}"

    def byte(self, row: int, place: int) -> int:
        """Where an access is kept."""
        return (row * self.places + (place ^ row // self.together % self.group)) * self.access_bytes

    def down(self, tile: Tile) -> Pattern:
        """The pattern of the tile's lanes."""
        assert tile.places is not None
        width = tile.access.vector
        return patterns.of_numbers(
            [self.byte(row, column // width) for row, column in tile.places], tile.access.bytes, tile.lanes
        )

    def along(self, num_lanes: int) -> Iterator[Pattern]:
        """A walk along each row, until rows repeat."""
        lanes = range(min(self.places, num_lanes))
        for row in range(self.group * self.together):
            yield patterns.of_numbers([self.byte(row, lane) for lane in lanes], self.access_bytes, lanes)


def swizzle(tile: Tile, banks: int) -> Swizzle | None:
    """The permutation of a tile whose rows are made of whole accesses, an even number of them; None of others."""
    size, width = tile.access.bytes, tile.access.vector
    if tile.places is None or tile.pitch % width or any(column % width for _, column in tile.places):
        return None
    places = tile.pitch // width
    group = min(places & -places, banks * WORD // size)
    if group < 2 or any(column // width >= places for _, column in tile.places):
        return None
    together = max(1, banks * WORD // (places * size))
    unit = "column" if width == 1 else f"(column / {width})"
    return Swizzle(places=places, group=group, together=together, access_bytes=size, unit=unit)
