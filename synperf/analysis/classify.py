"""The family of a GPU kernel by its name: gemm, attention, norm, collective, ...

Patterns and their version are in kernel_families.toml. What no pattern knows is "unclassified", never another family.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, Events, Kind

UNCLASSIFIED = "unclassified"
COLLECTIVE = "collective"
_FILE = Path(__file__).parent / "kernel_families.toml"
_ESCAPE = re.compile(r"\\.")
_GROUP = re.compile(r"\([^()]*\)[?*]?|\[[^\]]*\][?*+]?")
_OPTIONAL = re.compile(r".(?:[?*]|\{[^}]*\})")
_LETTERS = re.compile(r"[a-z0-9_:]+")
_families: dict[str, str] = {}  # of names that were asked for


class _Pattern:
    """A pattern, which is looked for in names alone that have what it needs: `search` is slow on long ones."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.literal = needed(text)

    @cached_property
    def _search(self) -> Callable[[str], Any]:
        return re.compile(self.text).search

    def found_in(self, name: str) -> bool:
        return self.literal in name and self._search(name) is not None


@dataclass(frozen=True, slots=True)
class _Signs:
    """What the name of a kernel of one family has in it, in small letters."""

    family: str
    literals: tuple[str, ...]
    patterns: tuple[_Pattern, ...]
    unless: _Pattern | None

    def within(self, words: str) -> _Signs:
        """Those of its signs that some name may have, if these are all words of all names."""
        literals = tuple(one for one in self.literals if one in words)
        return replace(self, literals=literals, patterns=tuple(one for one in self.patterns if one.literal in words))

    def found_in(self, name: str) -> bool:
        if self.unless is not None and self.unless.found_in(name):
            return False
        return any(map(name.__contains__, self.literals)) or any(one.found_in(name) for one in self.patterns)


def needed(pattern: str) -> str:
    """The longest text without which a pattern is in no name; empty where it needs none for sure.

    Groups and sets are taken to need nothing, and so is a letter before a sign that it may be left out.
    """
    rest = _ESCAPE.sub(" ", pattern)
    while rest != (rest := _GROUP.sub(" ", rest)):
        pass
    return "" if "|" in rest else max(_LETTERS.findall(_OPTIONAL.sub(" ", rest)), key=len, default="")


@cache
def _table() -> tuple[int, tuple[_Signs, ...]]:
    with _FILE.open("rb") as file:
        table = tomllib.load(file)
    return int(table["version"]), tuple(map(_signs, table["family"]))


def _signs(entry: dict[str, Any]) -> _Signs:
    patterns = [pattern.lower() for pattern in entry["patterns"]]
    return _Signs(
        family=entry["name"],
        literals=tuple(pattern for pattern in patterns if needed(pattern) == pattern),
        patterns=tuple(_Pattern(pattern) for pattern in patterns if needed(pattern) != pattern),
        unless=_Pattern(entry["unless"]) if "unless" in entry else None,
    )


def version() -> int:
    """Of the patterns."""
    return _table()[0]


def families() -> tuple[str, ...]:
    """Every family that a kernel may have."""
    return (*dict.fromkeys(signs.family for signs in _table()[1]), UNCLASSIFIED)


def family(name: str) -> str:
    """The family of a kernel with this name."""
    if name not in _families:
        classify([name])
    return _families[name]


def classify(names: Iterable[str]) -> None:
    """Finds the families of many names in less time than one by one: most signs are in none of them."""
    small = {name: name.lower() for name in names if name not in _families}
    words = " ".join({word for name in small.values() for word in _LETTERS.findall(name)})
    some = [signs for signs in (one.within(words) for one in _table()[1]) if signs.literals or signs.patterns]
    for name, text in small.items():
        _families[name] = next((signs.family for signs in some if signs.found_in(text)), UNCLASSIFIED)


def is_collective(name: str) -> bool:
    """Whether a kernel with this name moves data between GPUs."""
    return family(name) == COLLECTIVE


def collectives(events: Events, rows: Column) -> Column:
    """Whether each of these events is a kernel of a collective; each name is looked at once."""
    names, place = np.unique(events.name[rows], return_inverse=True)
    texts = [events.names[name] for name in names.tolist()]
    classify(texts)
    known = np.array([is_collective(text) for text in texts], dtype=bool)
    return np.asarray((events.kind[rows] == Kind.KERNEL) & known[place])
