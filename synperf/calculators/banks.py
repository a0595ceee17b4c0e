"""How many wavefronts an access to shared memory takes: conflicts of its banks, and what takes them away.

Source: NVIDIA, CUDA C++ Programming Guide, "Shared Memory": 32 banks of 4 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import FieldError
from ..hardware.capability import ComputeCapability
from ..kernels.fields import MAX_EXTENT
from .amounts import count as counted
from .lanes import pattern as patterns
from .lanes.bank_advice import advised
from .lanes.bank_reasons import reasons
from .lanes.banked import Banks, of_pattern
from .lanes.pattern import Pattern, Warp
from .lanes.request import WIDTHS, Access, nvidia, one_of, signed
from .lanes.tile import FRAGMENT_BYTES, Tile, columns, fragments

_MATRICES = (1, 2, 4)  # of one ldmatrix. Source: PTX ISA, ldmatrix
_MOST_STEPS = 1024


def banks(
    *,
    element_bytes: int = 4,
    stride: int | None = None,
    vector: int = 1,
    rows: int | None = None,
    pitch: int | None = None,
    column: int | None = None,
    ldmatrix: int | None = None,
    addresses: str | Sequence[int] | None = None,
    active: str | None = None,
    steps: int = 1,
    cc: str = "9.0",
) -> Banks:
    """What a warp takes of the banks; lane i accesses `vector` elements, `stride` (1) such vectors after lane i - 1.

    In the place of a stride: lane i in row i of a tile of `rows` rows that lie `pitch` elements apart, all in one
    `column` (0); the rows of `ldmatrix` 1, 2 or 4 matrices of such a tile; or `addresses` in bytes, an expression in
    `lane`, `step` and `pitch` for `steps` instructions one after the other, or one for each lane. `active` lanes are
    as `16`, `0-7,16` or a mask.

    Raises:
        FieldError: a field is not what it should be, or does not go with another.
        UnknownNameError: no such compute capability.
        UnsupportedError: it is that of another maker.
    """
    able = nvidia(cc)
    lanes = patterns.active_lanes(active, able.warp_size)
    count = counted("steps", steps, _MOST_STEPS)
    _one_way(stride, rows, pitch, column, ldmatrix, addresses)
    access = _access(element_bytes, vector, ldmatrix, able)
    warp = Warp(lanes=lanes, size=able.warp_size, access_bytes=access.bytes)
    if addresses is not None:
        return _of_addresses(addresses, ("step", count), access, warp, rows, pitch, able)
    if count > 1:
        raise FieldError("steps goes with addresses, which may have `step` in them; right would be none")
    if pitch is None:
        return _of_stride(1 if stride is None else signed("stride", stride), access, warp, able)
    tile = _tile(access, rows, pitch, column, ldmatrix, lanes)
    return _answer(tile.at(tile.pitch), tile, able, None if ldmatrix else tile.pitch * access.element_bytes)


def _of_addresses(
    addresses: str | Sequence[int], over: tuple[str, int], access: Access, warp: Warp, rows: Any, pitch: Any,
    able: ComputeCapability,
) -> Banks:  # fmt: skip
    """Lanes by an expression, whose `pitch` can be padded, or one by one."""
    if pitch is None:
        return _answer(patterns.given(addresses, warp, over), None, able, None)

    def at(other: int) -> Pattern:
        return patterns.given(addresses, warp, over, {"pitch": other})

    row = counted("pitch", pitch, MAX_EXTENT)
    return _answer(at(row), Tile(rows=_rows(rows), pitch=row, access=access, lanes=warp.lanes, at=at), able, None)


def _answer(pattern: Pattern, tile: Tile | None, able: ComputeCapability, between: int | None) -> Banks:
    found = advised(of_pattern(pattern, able), tile, able)
    return replace(found, why=reasons(found, pattern, able, between))


def _one_way(stride: Any, rows: Any, pitch: Any, column: Any, ldmatrix: Any, addresses: Any) -> None:
    """Checks that there is one way to say where lanes access.

    Raises:
        FieldError: there are two, or half of one.
    """
    tile = {"rows": rows, "pitch": pitch, "column": column, "ldmatrix": ldmatrix}
    of_tile = next((name for name, value in tile.items() if value is not None), None)
    if stride is not None and (of_tile or addresses is not None):
        raise FieldError(f"stride does not go with {of_tile or 'addresses'}; right would be one of them")
    if addresses is not None and (column is not None or ldmatrix is not None or (rows is not None and pitch is None)):
        raise FieldError("addresses goes with pitch, and rows beside it, alone; right would be none of the others")
    if addresses is None and of_tile and pitch is None:
        raise FieldError("pitch: none given; right would be --pitch N, the elements from one row to the next")
    if addresses is None and of_tile and rows is None and ldmatrix is None:
        raise FieldError("rows: none given; right would be --rows N, the rows of the tile")


def _access(element_bytes: Any, vector: Any, ldmatrix: Any, able: ComputeCapability) -> Access:
    """What a lane accesses at once; ldmatrix has rows of 16 bytes, whatever elements."""
    size = one_of("element_bytes", element_bytes, WIDTHS)
    if ldmatrix is None:
        access = Access.of(size, vector, able)
        one_of("element_bytes x vector", access.bytes, WIDTHS)
        return access
    if vector != 1:
        raise FieldError(
            f"vector does not go with ldmatrix, whose rows have {FRAGMENT_BYTES} bytes; right would be none"
        )
    return Access(element_bytes=size, vector=FRAGMENT_BYTES // size, bytes=FRAGMENT_BYTES)


def _of_stride(stride: int, access: Access, warp: Warp, able: ComputeCapability) -> Banks:
    def at(pitch: int) -> Pattern:
        between = pitch * access.element_bytes
        return patterns.strided(max(0, -between * warp.lanes[-1]), between, warp)

    pitch, places = stride * access.vector, [(lane, 0) for lane in warp.lanes]
    tile = Tile(rows=None, pitch=pitch, access=access, lanes=warp.lanes, at=at, places=places)
    return _answer(at(pitch), tile if stride > 0 else None, able, stride * access.bytes)


def _tile(access: Access, rows: Any, pitch: Any, column: Any, ldmatrix: Any, lanes: list[int]) -> Tile:
    row, first = counted("pitch", pitch, MAX_EXTENT), 0 if column is None else signed("column", column)
    if not 0 <= first <= row - access.vector:
        raise FieldError(f"column must be 0 to {row - access.vector}, where rows of {row} end, got {first}")
    if ldmatrix is None:
        return columns(access, counted("rows", rows, MAX_EXTENT), row, first, lanes)
    count = one_of("ldmatrix", ldmatrix, _MATRICES)
    return fragments(access, count, _rows(rows), row, first, lanes)


def _rows(rows: Any) -> int | None:
    return None if rows is None else counted("rows", rows, MAX_EXTENT)
