"""What profilers and programs write that is no timeline: one format exists because its file is here.

It has `recognises(head, path)` by content, and `read(path)`, which gives a result of its own type. A log may hold
several: what a training prints of its iterations and what NCCL tells of itself.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ...errors import FileFormatError
from ..sources import Source
from ..unknown import looks

__all__ = ["formats", "read_records", "recognised"]


@cache
def _readers() -> dict[str, Any]:
    names = sorted(found.name for found in iter_modules(__path__))
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "recognises")}


def formats() -> tuple[str, ...]:
    """Names of the formats that are read."""
    return tuple(_readers())


def recognised(path: Path) -> tuple[str, ...]:
    """Names of the formats of which the file has something; none for a folder."""
    if path.is_dir():
        return ()
    head = Source(path).head()
    return tuple(name for name, module in _readers().items() if module.recognises(head, path))


def read_records(path: str | Path) -> list[Any]:
    """What the file holds, a result for each of its formats.

    Raises:
        FileFormatError: it is of none of them, or nothing of it can be read.
    """
    path = Path(path)
    names = recognised(path)
    if not names:
        what = "is a folder" if path.is_dir() else looks(path)
        raise FileFormatError(f"{path}: it {what}; read are {', '.join(formats())}")
    return [_readers()[name].read(path) for name in names]
