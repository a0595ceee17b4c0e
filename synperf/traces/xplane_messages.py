"""The messages of an XPlane profile that are read: planes, their lines, events, statistics and names.

Source: xplane.proto of OpenXLA. Offsets and durations are picoseconds, the begin of a line nanoseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field

from ..light_classes import dataclass
from .protobuf import Damage, Value, fields, message, signed, text

Stat = int | float | str
_PLANE, _ERROR, _WARNING = 1, 2, 3  # of a space
_NAME, _LINE, _EVENT_NAMES, _STAT_NAMES, _STATS = 2, 3, 4, 5, 6  # of a plane
_EVENT = 4  # of a line
_DOUBLE, _UNSIGNED, _SIGNED, _TEXT, _REFERENCE = 2, 3, 4, 5, 7  # of a statistic


@dataclass(slots=True)
class Plane:
    """One device, or the host. `lines` are not parsed yet."""

    name: str = ""
    lines: list[memoryview] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # of events
    stat_names: dict[int, str] = field(default_factory=dict)
    stats: dict[str, Stat] = field(default_factory=dict)


@dataclass(slots=True)
class Line:
    """A stream or a thread, but for its events."""

    number: int = 0
    name: str = ""
    begin_ns: int = 0


@dataclass(slots=True)
class Event:
    """`offset_ps` is None for events that are only counted."""

    name: int = 0
    offset_ps: int | None = 0
    dur_ps: int = 0
    stats: list[memoryview] = field(default_factory=list)


def planes(data: memoryview, damage: Damage) -> Iterator[Plane]:
    for number, value in fields(data, damage):
        if number == _PLANE:
            yield _plane(message(value), damage)


def complaints(data: memoryview) -> int:
    """How many errors and warnings of the profiler are in the file."""
    return sum(number in (_ERROR, _WARNING) for number, _ in fields(data, Damage()))


def _plane(data: memoryview, damage: Damage) -> Plane:
    plane, stats = Plane(), []
    for number, value in fields(data, damage):
        if number == _NAME:
            plane.name = text(value)
        elif number == _LINE:
            plane.lines.append(message(value))
        elif number in (_EVENT_NAMES, _STAT_NAMES):
            names = plane.names if number == _EVENT_NAMES else plane.stat_names
            names.update([_entry(message(value), damage)])
        elif number == _STATS:
            stats.append(message(value))
    plane.stats = read_stats(stats, plane, damage)
    return plane


def _entry(data: memoryview, damage: Damage) -> tuple[int, str]:
    """The key of an entry of a map of names, and the name."""
    key, name = 0, ""
    for number, value in fields(data, damage):
        if number == 1:
            key = signed(value)
        elif number == 2:
            name = next((text(inner) for place, inner in fields(message(value), damage) if place == 2), "")
    return key, name


def read_line(data: memoryview, damage: Damage) -> Line:
    line = Line()
    for number, value in fields(data, damage):
        if number == 1:
            line.number = signed(value)
        elif number == 2:
            line.name = text(value)
        elif number == 3:
            line.begin_ns = signed(value)
    return line


def line_events(data: memoryview) -> Iterator[memoryview]:
    """The events of a line, which are not parsed yet."""
    return (message(value) for number, value in fields(data, Damage()) if number == _EVENT)


def read_event(data: memoryview, damage: Damage) -> Event:
    event = Event()
    for number, value in fields(data, damage):
        if number == 1:
            event.name = signed(value)
        elif number == 2:
            event.offset_ps = signed(value)
        elif number == 3:
            event.dur_ps = signed(value)
        elif number == 4:
            event.stats.append(message(value))
        elif number == 5:
            event.offset_ps = None
    return event


def read_stats(found: list[memoryview], plane: Plane, damage: Damage) -> dict[str, Stat]:
    """Statistics by their names; a reference is the text that it stands for."""
    stats: dict[str, Stat] = {}
    for data in found:
        name, value = "", None
        for number, given in fields(data, damage):
            if number == 1:
                name = plane.stat_names.get(signed(given), "")
            else:
                value = _value(number, given, plane)
        if name and value is not None:
            stats[name] = value
    return stats


def _value(number: int, given: Value, plane: Plane) -> Stat | None:
    if number in (_UNSIGNED, _SIGNED):
        return signed(given)
    if number == _REFERENCE:
        return plane.stat_names.get(signed(given), "")
    if number == _TEXT:
        return text(given)
    if number == _DOUBLE and isinstance(given, memoryview) and len(given) == 8:
        return float(struct.unpack("<d", given)[0])
    return None
