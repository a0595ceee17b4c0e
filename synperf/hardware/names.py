"""Names of catalog GPUs, from the plain fields at the top of each file; the tables below them are not read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "gpus"
_SEPARATORS = re.compile(r"[\s_./-]+")
_MAKERS = re.compile(r"^(?:nvidia|tesla|geforce|quadro|amd|intel|instinct)+")
_OTHERS = re.compile(r"^(?:amd|intel|google|cloud|habana|instinct)*(?:mi\d|rx\d|radeon|gaudi|tpu|b60(?!\d)|arc)")


def keys() -> tuple[str, ...]:
    """Every GPU of the catalog: a GPU exists because its file is in the folder."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def head(key: str) -> dict[str, Any]:
    """Fields of a catalog file above its first table; empty where there is no such file."""
    return tomllib.loads(_top(key))


def _top(key: str) -> str:
    path = FOLDER / f"{key}.toml"
    return path.read_text(encoding="utf-8").split("\n[", 1)[0] if path.is_file() else ""


def squash(name: str) -> str:
    """A name without case and separators: `RTX 6000 Ada` and `rtx_6000_ada` are one."""
    return _SEPARATORS.sub("", name.lower())


def is_of_another_maker(name: str) -> bool:
    """Whether a name begins as an accelerator of AMD, Intel or Google does: `MI300X`, `Gaudi 3`, `TPU v5e`."""
    return _OTHERS.match(squash(name)) is not None


def resolve(name: str) -> tuple[str, str]:
    """The key that a name stands for and what is assumed with it, both empty where no GPU has that name.

    The name is taken as it is, then without the maker's words: `Tesla T4` is `T4`.
    """
    exact = squash(name)
    bare = _MAKERS.sub("", exact)
    known = _names_of(tuple(key for key in keys() if bare in squash(key) or bare in _squashed(key)))
    for spelling in (exact, bare):
        if spelling in known:
            key, assumed = known[spelling]
            return key, f"gpu: {name!r} taken as {key}, {assumed}" if assumed else ""
    return "", ""


@cache
def _squashed(key: str) -> str:
    """The text of a catalog file above its first table, squashed: only where a name is in it can the GPU have it."""
    return squash(_top(key))


def _names_of(some: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Squashed name -> (key, what is assumed), of some GPUs. A key beats an alias, an alias beats a stand-in."""
    stand_ins = {squash(name): (key, text) for key in some for name, text in head(key).get("stand_ins", {}).items()}
    aliases = {squash(name): (key, "") for key in some for name in head(key).get("aliases", ())}
    without_maker = {_MAKERS.sub("", name): found for name, found in aliases.items()}
    return without_maker | stand_ins | aliases | {squash(key): (key, "") for key in some}
