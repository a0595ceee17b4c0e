"""The catalog: what architectures are, and the config.json of popular models. A family exists because its file does."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ..errors import UnknownNameError
from .traits import Entry, Family, Traits

FOLDER = Path(__file__).parent / "catalog"
_SEPARATORS = re.compile(r"[\s_/-]+")  # a dot tells opt-1.3b from opt-13b


@cache
def families() -> dict[str, Family]:
    """Every family by the name of its file."""
    decoder = msgspec.json.Decoder(Family)
    return {path.stem: decoder.decode(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))}


@cache
def architectures() -> dict[str, Traits]:
    """What every known architecture is, by the name that config.json gives it."""
    return {name: family.traits for family in families().values() for name in family.traits.architectures}


@cache
def entries() -> dict[str, Entry]:
    """Every model of the catalog by its name, such as `Qwen/Qwen3-32B`."""
    return {name: entry for family in families().values() for name, entry in family.models.items()}


def names() -> tuple[str, ...]:
    """Names of all models of the catalog."""
    return tuple(sorted(entries(), key=str.lower))


def config_of(name: str) -> dict[str, Any]:
    """The config.json of a model of the catalog, by its whole name."""
    entry = entries()[name]
    return {**config_of(entry.base), **entry.config} if entry.base else dict(entry.config)


def resolve(name: str) -> str:
    """The whole name of a model; case, separators, and the owner before the slash may be left out.

    Raises:
        UnknownNameError: the catalog has none of that name.
    """
    found = _spellings().get(_squash(name))
    if found is None:
        short = sorted({known.rpartition("/")[2] for known in entries()}, key=str.lower)
        error = UnknownNameError.among("model", name.rpartition("/")[2], [s.lower() for s in short])
        raise UnknownNameError(f"{error}; right would be one of the catalog, a config.json, or a folder with one")
    return found


def _squash(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())


@cache
def _spellings() -> dict[str, str]:
    """Squashed name -> whole name. A whole name beats an alias, and that a name without owner."""
    spelled: dict[str, str] = {}
    given = [(name, name) for name in entries()]
    given += [(alias, name) for name, entry in entries().items() for alias in entry.aliases]
    for alias, name in [*given, *((alias.rpartition("/")[2], name) for alias, name in given)]:
        spelled.setdefault(_squash(alias), name)
    return spelled
