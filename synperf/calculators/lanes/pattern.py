"""The bytes that the lanes of warps access in one instruction: by a stride, an expression in `lane`, or one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FieldError
from .expression import evaluate

MOST_REQUESTS = 2**14
MOST_LANES = 64  # of a warp of any maker
_HIGHEST = 2**49  # bytes: virtual addresses of GPUs have 49 bits. Source: CUDA C++ Programming Guide, "Unified Memory"
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
Addresses = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pattern:
    """Where each request, a row, has each of its active lanes, a column: the first of `access_bytes` bytes.

    `lanes` are the numbers of the active lanes. Addresses count from a place that is aligned to a line of memory.
    """

    addresses: Addresses
    lanes: Sequence[int]
    access_bytes: int

    @property
    def num_requests(self) -> int:
        """Instructions of a warp."""
        return len(self.addresses)

    @property
    def misaligned(self) -> int | None:
        """The first address that is no multiple of the access, at which an instruction faults; None without one."""
        odd = self.addresses % self.access_bytes != 0
        return int(self.addresses[odd][0]) if odd.any() else None

    def pieces(self) -> Addresses:
        """Bytes in pieces that no boundary of a word, sector or line cuts: requests x (active lanes x pieces)."""
        lowest = int(np.bitwise_or.reduce(self.addresses, axis=None)) | self.access_bytes
        unit = lowest & -lowest
        inside = np.arange(0, self.access_bytes, unit, dtype=np.int64)
        return (self.addresses[:, :, None] + inside).reshape(self.num_requests, -1)

    @property
    def piece_bytes(self) -> int:
        """Bytes of each of `pieces`."""
        return self.access_bytes * len(self.lanes) // int(self.pieces().shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Warp:
    """The active lanes of a warp of `size`, and the bytes that each accesses at once."""

    lanes: Sequence[int]
    size: int
    access_bytes: int


def strided(first: int, between: int, warp: Warp, warps: int = 1) -> Pattern:
    """Thread t at byte `first` + t `between`.

    Raises:
        FieldError: an address is below 0, or too large.
    """
    threads = np.arange(warps, dtype=object)[:, None] * warp.size + np.array(warp.lanes, dtype=object)
    return _checked("stride", first + threads * between, warp.access_bytes, warp.lanes)


def given(
    addresses: str | Sequence[int], warp: Warp, over: tuple[str, int], others: Mapping[str, int] | None = None
) -> Pattern:
    """By an expression in `lane`, in the variable that `over` counts from 0, and in other numbers; or one address for
    each lane, as text or numbers.

    Raises:
        FieldError: as `expressed` and `listed`; a list is for several requests.
    """
    values = numbers_in(addresses) if isinstance(addresses, str) else addresses
    if values is None:
        return expressed(str(addresses), warp, over, others or {})
    counter, count = over
    for name, value in ((f"{counter}s", count if count > 1 else None), *(others or {}).items()):
        if value is not None:
            raise FieldError(f"{name} does not go with a list of addresses, which are those of one request")
    return listed(values, warp)


def expressed(text: str, warp: Warp, over: tuple[str, int], others: Mapping[str, int]) -> Pattern:
    """By an expression in `lane`, in the variable that `over` counts from 0, and in other numbers.

    Raises:
        FieldError: as `evaluate`; an address is below 0, or too large.
    """
    counter, count = over
    lane = np.array(warp.lanes, dtype=np.int64)[None, :]
    turn = np.arange(count, dtype=np.int64)[:, None]
    fixed = {name: np.array([[value]], dtype=np.int64) for name, value in others.items()}
    thread = {"thread": turn * warp.size + lane} if counter == "warp" else {}
    found = evaluate("addresses", text, {"lane": lane, counter: turn, **thread, **fixed})
    return _checked("addresses", found, warp.access_bytes, warp.lanes)


def listed(values: Sequence[int], warp: Warp) -> Pattern:
    """One address for each lane, from lane 0 on; lanes without one are not active.

    Raises:
        FieldError: there is none, or more than lanes; one is no whole number, below 0, or too large.
    """
    if not 1 <= len(values) <= warp.size:
        raise FieldError(f"addresses must be 1 to {warp.size}, one for each lane, got {len(values)}")
    odd = next((value for value in values if isinstance(value, bool) or not isinstance(value, int | np.integer)), None)
    if odd is not None:
        raise FieldError(f"addresses must be whole numbers of bytes, got {str(odd)[:60]!r}")
    kept = below(warp.lanes, len(values))
    return of_numbers([int(values[lane]) for lane in kept], warp.access_bytes, kept)


def below(lanes: Sequence[int], count: int) -> list[int]:
    """The active lanes of the first `count`, which have a place.

    Raises:
        FieldError: none is.
    """
    kept = [lane for lane in lanes if lane < count]
    if not kept:
        raise FieldError(f"active must be lanes that have an address, which are 0 to {count - 1}, got {lanes[0]}")
    return kept


def of_numbers(values: Sequence[int], access_bytes: int, lanes: Sequence[int]) -> Pattern:
    """One request, with an address for each of its active lanes.

    Raises:
        FieldError: an address is below 0, or too large.
    """
    return _checked("addresses", np.array([values], dtype=object), access_bytes, lanes)


def _checked(name: str, addresses: Any, access_bytes: int, lanes: Sequence[int]) -> Pattern:
    for bad, sentence in (
        (addresses < 0, "must be from 0 on, which an offset may bring about"),
        (addresses > _HIGHEST, "must be below 2^49, where addresses of GPUs end"),
    ):
        if np.any(bad):
            row, column = np.argwhere(bad)[0]
            raise FieldError(f"{name}: bytes {sentence}, got {addresses[row, column]} for lane {lanes[column]}")
    return Pattern(addresses=np.ascontiguousarray(addresses, dtype=np.int64), lanes=lanes, access_bytes=access_bytes)


def numbers_in(text: str) -> list[int] | None:
    """The numbers of a list such as `0,4,8`; None where the text is none, but an expression.

    Raises:
        FieldError: a part of a list is no whole number.
    """
    if "," not in text:
        return None
    return [_whole("addresses", part) for part in text.split(",")]


def active_lanes(given: str | None, warp_size: int) -> list[int]:
    """The lanes of `16` (the first 16), `0-7,16` or `0x00ff` (a mask); all where none are given.

    Raises:
        FieldError: it is none of these, or a warp has no such lanes.
    """
    if given is None:
        return list(range(warp_size))
    text = given.strip().lower()
    if re.fullmatch(r"0x[0-9a-f]{1,16}", text, re.ASCII):
        return _inside([lane for lane in range(MOST_LANES) if int(text, 16) >> lane & 1], warp_size, given)
    if _WHOLE.fullmatch(text):
        return _inside(list(range(min(int(text), warp_size + 1))), warp_size, given)
    return _inside(sorted({lane for part in text.split(",") for lane in _range(part, warp_size)}), warp_size, given)


def _range(part: str, warp_size: int) -> range:
    first, dash, last = part.partition("-")
    low = _whole("active", first)
    return range(low, min(_whole("active", last) if dash else low, warp_size) + 1)


def _inside(lanes: list[int], warp_size: int, given: str) -> list[int]:
    if not lanes or lanes[-1] >= warp_size:
        raise FieldError(f"active must be lanes 0 to {warp_size - 1}, such as 16, 0-7,16 or 0xff, got {given[:60]!r}")
    return lanes


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text.strip()):
        raise FieldError(f"{name} must be whole numbers with commas between them, got {text.strip()[:60]!r}")
    return int(text)
