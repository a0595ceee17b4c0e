"""Damage that befalls files: to their bytes, whatever they hold, and to single events of JSON."""

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

Event = dict[str, Any]
HUGE = (2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 1e18, 1e300)
ODD = (None, True, "", "x", "NaN", [], {}, [[1]], {"a": 1}, -1, 0, 0.5, "7", *HUGE)
_LOST = 400  # bytes that are lost, doubled or moved at once, at the most


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def lost(data: bytes, random: Random) -> bytes:
    begin, end = _span(data, random)
    return data[:begin] + data[end:]


def doubled(data: bytes, random: Random) -> bytes:
    begin, end = _span(data, random)
    return data[:end] + data[begin:]


def moved(data: bytes, random: Random) -> bytes:
    begin, end = _span(data, random)
    place = random.randrange(len(data))
    rest = data[:begin] + data[end:]
    return rest[:place] + data[begin:end] + rest[place:]


def junk(data: bytes, random: Random) -> bytes:
    """Some bytes are others."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 40))):
        made[random.randrange(len(made))] = random.randrange(256)
    return bytes(made)


def flipped(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def blank(data: bytes, random: Random) -> bytes:
    """A hole of zeros, as a file system leaves it after a crash."""
    begin, end = _span(data, random)
    return data[:begin] + bytes(end - begin) + data[end:]


def beheaded(data: bytes, random: Random) -> bytes:
    return data[random.randrange(len(data)) :]


BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (cut, lost, doubled, moved, junk, flipped, blank, beheaded)


def crossed(a: bytes, b: bytes, random: Random) -> bytes:
    """Two writers of one file: pieces of each, by turns."""
    made, turn = b"", 0
    places = [0, 0]
    while places[0] < len(a) and places[1] < len(b):
        begin = places[turn]
        places[turn] = begin + random.choice((100, 1000, 4096))
        made += (a, b)[turn][begin : places[turn]]
        turn = 1 - turn
    return made + a[places[0] :] + b[places[1] :]


def joined(a: bytes, b: bytes, random: Random) -> bytes:
    """The begin of one file and the rest of another."""
    return a[: random.randrange(len(a) + 1)] + b[random.randrange(len(b)) :]


PAIRS: tuple[Callable[[bytes, bytes, Random], bytes], ...] = (crossed, joined)


def _span(data: bytes, random: Random) -> tuple[int, int]:
    begin = random.randrange(len(data))
    return begin, min(len(data), begin + 1 + random.randrange(_LOST))


def dropped(events: list[Event], random: Random) -> None:
    """Keys are missing."""
    target = _target(events, random)
    del target[random.choice(list(target))]


def retyped(events: list[Event], random: Random) -> None:
    """Values are of another type, or no value that could be."""
    target = _target(events, random)
    target[random.choice(list(target))] = random.choice(ODD)


def negative(events: list[Event], random: Random) -> None:
    event = random.choice([one for one in _real(events) if "dur" in one] or _real(events))
    event["dur"] = random.choice((-1, -0.001, "-5", -1e18))


def shifted(events: list[Event], random: Random) -> None:
    """One time is far from the others."""
    event = random.choice(_real(events))
    event["ts"] = random.choice(
        (0, -5, 1e15, 9e15, 4e18, "1e3", "1e40", 0.0001, "0x10", "1_000", "1E999999", "1E900000", "0E9", "-1E-9")
    )


def huge(events: list[Event], random: Random) -> None:
    """Ids that no column holds."""
    target = _target(events, random)
    target[random.choice(("pid", "tid", "device", "stream", "correlation", "External id", "id"))] = random.choice(HUGE)


def repeated(events: list[Event], random: Random) -> None:
    events.insert(random.randrange(len(events)), copy.deepcopy(random.choice(events)))


def strange(events: list[Event], random: Random) -> None:
    """Something in the list is no event."""
    events.insert(random.randrange(len(events)), random.choice((None, 7, "x", [], {}, {"ph": "X"}, [{"ph": "X"}])))


def recategorised(events: list[Event], random: Random) -> None:
    event = random.choice(_real(events))
    event["cat" if random.random() < 0.7 else "ph"] = random.choice(
        ("kernel2", "KERNEL", "", "gpu", "Q", "b", "X", "M")
    )


EVENTS: tuple[Callable[[list[Event], Random], None], ...] = (
    dropped, retyped, negative, shifted, huge, repeated, strange, recategorised,
)  # fmt: skip


def _real(events: list[Event]) -> list[Event]:
    """What has not become something else."""
    return [one for one in events if isinstance(one, dict) and one]


def _target(events: list[Event], random: Random) -> Event:
    """An event, or its arguments."""
    event = random.choice(_real(events))
    args = event.get("args")
    return args if isinstance(args, dict) and args and random.random() < 0.5 else event


def written(found: Any, random: Random) -> bytes:
    """The JSON of a document, as one of several writers would write it."""
    return json.dumps(found, indent=random.choice((None, None, None, 1)), ensure_ascii=random.random() < 0.5).encode()
