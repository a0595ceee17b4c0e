"""To which multiples the extents of a product are padded, so that its rows begin where tensor cores load them at once.

Source: NVIDIA, "Matrix Multiplication Background User's Guide", table 1: multiples of 16 bytes, of 128
from A100 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from ..errors import FieldError
from ..hardware import GPU, DType
from ..hardware.makers import NVIDIA
from ..kernels.fields import dtype_of
from ..numeric import round_up
from ..units import format_percent
from .amounts import extent

NEEDED_BYTES = 16  # of one load of a lane, and of a row of a fragment
BEST_BYTES = 128  # a line, from A100 on
_SINCE = (8, 0)  # A100
_ALLOCATED = 256  # bytes that cudaMalloc aligns to. Source: CUDA C++ Programming Guide, "Device Memory Accesses"
_HIGHEST = 2**49  # where addresses of GPUs end


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """One extent, in elements; wastes are shares of what it is padded to.

    `load_bytes` is the widest load of which every row of that length begins at a multiple, up to 16.
    """

    name: str
    value: int
    multiple: int
    padded: int
    waste: float
    best_multiple: int
    best_padded: int
    best_waste: float
    load_bytes: float
    is_aligned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Extents of one product; `flop_waste` is the share of the padded product's FLOP that are padding."""

    dtype: str
    element_bytes: float
    needed_bytes: int
    best_bytes: int
    extents: tuple[Extent, ...]
    flop_waste: float
    best_flop_waste: float
    address: int | None
    address_load_bytes: int | None
    aligned: bool
    why: tuple[str, ...]
    advice: tuple[str, ...]


def alignment(
    extents: Mapping[str, int], dtype: DType | str = DType.FP16, gpu: GPU | None = None, address: int | None = None
) -> Alignment:
    """What extents such as `{"k": 1001}` are padded to; without a GPU it is one from A100 on.

    Raises:
        FieldError: there is no extent, or one is not what it should be.
        UnsupportedError: the GPU does not multiply the format.
    """
    if not extents:
        raise FieldError("k: none given; right would be one of m, n and k")
    kind, best = dtype_of("dtype", dtype), _best_bytes(gpu)
    if gpu is not None:
        gpu.math_pipe(kind)
    found = tuple(_extent(name, extent(name, value), kind, best) for name, value in extents.items())
    place = None if address is None else _address(address)
    loaded = None if place is None else gcd(place, NEEDED_BYTES)
    return Alignment(
        dtype=str(kind),
        element_bytes=kind.bytes,
        needed_bytes=NEEDED_BYTES,
        best_bytes=best,
        extents=found,
        flop_waste=_lost((one.value, one.padded) for one in found),
        best_flop_waste=_lost((one.value, one.best_padded) for one in found),
        address=place,
        address_load_bytes=loaded,
        aligned=all(one.is_aligned for one in found) and loaded in (None, NEEDED_BYTES),
        why=tuple(_reasons(found, kind, best, gpu, place)),
        advice=tuple(_advice(found, place)),
    )


def _best_bytes(gpu: GPU | None) -> int:
    is_older = gpu is not None and gpu.maker == NVIDIA and gpu.cc < _SINCE
    return NEEDED_BYTES if is_older else BEST_BYTES


def _extent(name: str, value: int, dtype: DType, best_bytes: int) -> Extent:
    needed, best = (int(size / dtype.bytes) for size in (NEEDED_BYTES, best_bytes))
    padded, best_padded = int(round_up(value, needed)), int(round_up(value, best))
    return Extent(
        name=name,
        value=value,
        multiple=needed,
        padded=padded,
        waste=1 - value / padded,
        best_multiple=best,
        best_padded=best_padded,
        best_waste=1 - value / best_padded,
        load_bytes=gcd(value, needed) * dtype.bytes,
        is_aligned=value % needed == 0,
    )


def _lost(pairs: Iterator[tuple[int, int]]) -> float:
    useful = 1.0
    for value, padded in pairs:
        useful *= value / padded
    return 1 - useful


def _address(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _HIGHEST:
        raise FieldError(f"address must be a whole number of bytes from 0 to below 2^49, got {str(value)[:60]}")
    return value


def _reasons(found: tuple[Extent, ...], dtype: DType, best: int, gpu: GPU | None, place: int | None) -> Iterator[str]:
    needed = found[0].multiple
    yield (f"a load of {NEEDED_BYTES} bytes holds {needed} values of {dtype}: rows that are no multiple of {needed} "
           "begin between such loads")  # fmt: skip
    for one in found:
        if one.is_aligned:
            yield f"{one.name} {one.value:,} is a multiple of {needed}"
        else:
            yield (f"{one.name} {one.value:,} = {one.value // needed:,} x {needed} + {one.value % needed}: its rows "
                   f"begin at multiples of {one.load_bytes:g} bytes, which takes {NEEDED_BYTES / one.load_bytes:g} "
                   f"loads for one of {NEEDED_BYTES}")  # fmt: skip
    if gpu is not None and gpu.math_pipe(dtype) != "tensor":
        yield f"{gpu.name} multiplies {dtype} on its FMA pipe, which needs no multiple: only loads are slower"
    if best > NEEDED_BYTES:
        since = ", from A100 on" if gpu is None or gpu.maker == NVIDIA else ""
        yield f"fastest are multiples of {best} bytes, {found[0].best_multiple} values: whole lines{since}"
    if place is not None:
        yield (f"address {place:#x} is a multiple of {gcd(place, _ALLOCATED)} bytes; loads need {NEEDED_BYTES}, and "
               f"the {_ALLOCATED} that allocators give are more than that")  # fmt: skip


def _advice(found: tuple[Extent, ...], place: int | None) -> Iterator[str]:
    odd = [one for one in found if not one.is_aligned]
    for one in odd:
        yield (f"pad {one.name} from {one.value:,} to {one.padded:,}: {format_percent(one.waste)} of it is padding; "
               f"to {one.best_padded:,} it is {format_percent(one.best_waste)}")  # fmt: skip
    if place is not None and place % NEEDED_BYTES:
        yield f"begin at {-(-place // NEEDED_BYTES) * NEEDED_BYTES:#x}, the next multiple of {NEEDED_BYTES} bytes"
    elif not odd:
        further = [one for one in found if one.value % one.best_multiple]
        for one in further:
            yield f"{one.name} {one.best_padded:,} would be whole lines, {format_percent(one.best_waste)} of it padding"
        if not further:
            yield "none needed: every row begins with a line"
