"""Readers of traces: one exists because its file is in this folder and has `recognises` and `read`.

`recognises(head, path)` says by the first bytes, unpacked, whether the file is of its format; `read(path, progress)`
gives its traces, one for each rank. Every format has its own content: no two readers recognise one file.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..errors import FileFormatError
from .events import Trace
from .sources import Progress, Source
from .unknown import describe

__all__ = ["Progress", "Trace", "formats", "read_trace"]


@cache
def _readers() -> dict[str, Any]:
    names = sorted(found.name for found in iter_modules(__path__))
    modules = {name: import_module(f"{__name__}.{name}") for name in names if not name.startswith("_")}
    return {name: module for name, module in modules.items() if hasattr(module, "recognises")}


def formats() -> tuple[str, ...]:
    """Names of the formats that are read."""
    return tuple(_readers())


def read_trace(path: str | Path, *, progress: Progress | None = None) -> list[Trace]:
    """The traces of a file, one for each rank in it, whatever its name: its content says what it is.

    Raises:
        FileFormatError: it is of no format that is read, is empty, or holds no events.
    """
    path = Path(path)
    if path.is_dir():
        raise FileFormatError(f"{path}: it is a folder; right would be the files of a trace")
    head = Source(path).head()
    reader = next((module for module in _readers().values() if module.recognises(head, path)), None)
    if reader is None:
        raise FileFormatError(f"{path}: it {describe(head)}; read are {', '.join(formats())}")
    found: list[Trace] = reader.read(path, progress)
    return found
