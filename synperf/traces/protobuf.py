"""The wire format of protocol buffers: numbered fields, one after the other, without their names.

Source: Google, "Protocol Buffers: Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..light_classes import dataclass

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
_LENGTHS = {FIXED_64: 8, FIXED_32: 4, BYTES: 0}  # in bytes; that of the last stands before it
_LONGEST = 10  # bytes of a varint
_SIGN, _WHOLE = 1 << 63, 1 << 64
Value = int | memoryview


@dataclass(slots=True)
class Damage:
    """What of a message could not be read: bytes that follow what is malformed, or a field that the end cuts."""

    bytes: int = 0
    is_cut: bool = False


def fields(data: memoryview, damage: Damage) -> Iterator[tuple[int, Value]]:
    """(number, value) of each field: a whole number, or the bytes of a text, a message or a number of fixed width.

    A field that is longer than what is there comes as far as it goes; what follows a malformed one is skipped.
    """
    place, end = 0, len(data)
    while place < end:
        begin, key = place, data[place]
        place += 1
        if key > 127:
            key, place = _varint(data, begin)
        kind = key & 7
        if kind == VARINT and 0 < place < end and data[place] < 128:
            yield key >> 3, data[place]
            place += 1
        elif kind == VARINT and (found := _varint(data, place))[1] > 0:
            yield key >> 3, found[0]
            place = found[1]
        elif (length_at := _length(data, kind, place))[1] > 0:
            length, place = length_at
            damage.is_cut |= place + length > end
            yield key >> 3, data[place : place + length]
            place += length
        else:
            damage.bytes += end - begin
            return


def _length(data: memoryview, kind: int, place: int) -> tuple[int, int]:
    """How long a field of that kind is, and where it begins; (-1, -1) where there is none."""
    if place < 0 or kind not in _LENGTHS:
        return -1, -1
    return _varint(data, place) if kind == BYTES else (_LENGTHS[kind], place)


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """The number that begins there and the place after it; (-1, -1) where there is none."""
    value = shift = 0
    for byte in data[place : place + _LONGEST] if place >= 0 else b"":
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value % _WHOLE, place
        shift += 7
    return -1, -1


def signed(value: Value) -> int:
    """An int64 in two's complement; 0 for what is no number."""
    if not isinstance(value, int):
        return 0
    return value - _WHOLE if value >= _SIGN else value


def text(value: Value) -> str:
    return str(value, "utf-8", "replace") if isinstance(value, memoryview) else ""


def message(value: Value) -> memoryview:
    """The bytes of a message; none for what is no message."""
    return value if isinstance(value, memoryview) else memoryview(b"")
