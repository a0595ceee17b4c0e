"""The family of a GPU kernel by its name: gemm, attention, norm, collective, ...

Patterns and their version are in kernel_families.toml. What no pattern knows is "unclassified", never one of the others.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np

from ..traces.events import Column, Events, Kind

UNCLASSIFIED = "unclassified"
COLLECTIVE = "collective"
COPY = "memcpy"
MEMSET = "memset"
_FILE = Path(__file__).parent / "kernel_families.toml"


@cache
def _table() -> tuple[int, tuple[tuple[str, re.Pattern[str]], ...]]:
    with _FILE.open("rb") as file:
        table = tomllib.load(file)
    found = [(one["name"], re.compile("|".join(one["patterns"]), re.IGNORECASE)) for one in table["family"]]
    return int(table["version"]), tuple(found)


def version() -> int:
    """Of the patterns."""
    return _table()[0]


def families() -> tuple[str, ...]:
    """Every family that a kernel may have."""
    return (*dict.fromkeys(name for name, _ in _table()[1]), UNCLASSIFIED)


@cache
def family(name: str) -> str:
    """The family of a kernel with this name."""
    return next((found for found, pattern in _table()[1] if pattern.search(name)), UNCLASSIFIED)


def is_collective(name: str) -> bool:
    """Whether a kernel with this name moves data between GPUs."""
    return family(name) == COLLECTIVE


def collectives(events: Events, rows: Column) -> Column:
    """Whether each of these events is a kernel of a collective; each name is looked at once."""
    names, place = np.unique(events.name[rows], return_inverse=True)
    known = np.array([is_collective(events.names[name]) for name in names.tolist()], dtype=bool)
    return (events.kind[rows] == Kind.KERNEL) & known[place]
