"""Mutants of files: the same ones for the same seed, each with a word that tells how it was made."""

import json
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from .ages import AGES, document, events_of
from .damage import BYTES, EVENTS, PAIRS, written

_NEIGHBOURS = 80  # events
_AT_ONCE = (1, 1, 1, 2, 5)  # damages of one mutant


@cache
def made(age: str) -> str:
    """The file of an age."""
    return json.dumps(document(AGES[age]))


def of_kineto(random: Random, documents: Sequence[str]) -> tuple[str, bytes]:
    """One of the documents, damaged in its events or in its bytes."""
    found = json.loads(random.choice(documents))
    if random.random() < 0.55:
        names = []
        for _ in range(random.choice(_AT_ONCE)):
            damage = random.choice(EVENTS)
            names.append(damage.__name__)
            damage(events_of(found), random)
        return " ".join(names), written(found, random)
    return of_bytes(random, [written(found, random), random.choice(documents).encode()])


def of_bytes(random: Random, files: Sequence[bytes]) -> tuple[str, bytes]:
    """One of the files, damaged in its bytes; now and then two of them mixed."""
    if random.random() < 0.1:
        mix = random.choice(PAIRS)
        return mix.__name__, mix(random.choice(files), random.choice(files), random)
    data, names = random.choice(files), []
    for _ in range(random.choice(_AT_ONCE)):
        damage = random.choice(BYTES)
        names.append(damage.__name__)
        data = damage(data, random) if data else data
    return " ".join(names), data


def piece_of(found: Any, random: Random) -> str:
    """A file with what stands beside the events of a real one, and some neighbours among its events."""
    events = events_of(found)
    begin = random.randrange(max(1, len(events) - _NEIGHBOURS))
    some = events[begin : begin + _NEIGHBOURS]
    return json.dumps(some if isinstance(found, list) else {**found, "traceEvents": some})
