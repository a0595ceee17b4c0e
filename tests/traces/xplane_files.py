"""Small XPlane profiles, encoded here field by field, for tests."""

import struct


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number: int, value) -> bytes:
    """A field: whole numbers, texts, messages, and doubles."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def stat(name: int, value, number=None) -> bytes:
    kinds = {int: 4, str: 5, float: 2}
    return field(1, name) + field(number or kinds[type(value)], value)


def event(name: int, offset_ps: int, dur_ps: int, *stats: bytes) -> bytes:
    return field(1, name) + field(2, offset_ps) + field(3, dur_ps) + b"".join(field(4, one) for one in stats)


def line(number: int, name: str, begin_ns: int, *events: bytes) -> bytes:
    return field(1, number) + field(2, name) + field(3, begin_ns) + b"".join(field(4, one) for one in events)


def plane(name: str, lines=(), names=(), stat_names=(), stats=(), number=0) -> bytes:
    def entries(place, texts):
        return b"".join(
            field(place, field(1, key) + field(2, field(1, key) + field(2, text))) for key, text in enumerate(texts, 1)
        )

    return (
        field(1, number) + field(2, name) + b"".join(field(3, one) for one in lines) + entries(4, names)
        + entries(5, stat_names) + b"".join(field(6, one) for one in stats)
    )  # fmt: skip


def space(*planes: bytes, errors=()) -> bytes:
    return b"".join(field(1, one) for one in planes) + b"".join(field(2, text) for text in errors)
