"""Readers of traces: one exists because its file is in this folder and has `recognises` and `read`.

`recognises(head, path)` says by the first bytes, unpacked, whether the file is of its format; `read(path, progress)`
gives its traces, one for each rank. Every format has its own content; where two readers know a file, which is so for
JSON, the first by name reads it. What is no timeline is in `records`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ..errors import FileFormatError
from .sources import Progress, Source
from .unknown import looks

if TYPE_CHECKING:
    from .events import Trace  # with numpy, which is not there yet when a reader begins early

__all__ = ["Progress", "formats", "read_trace", "recognised"]


def _readers() -> Iterator[tuple[str, Any]]:
    """Names and modules, each of which is imported when those before it do not know a file."""
    for name in sorted(found.name for found in iter_modules(__path__)):
        module = import_module(f"{__name__}.{name}")
        if hasattr(module, "recognises"):
            yield name, module


def formats() -> tuple[str, ...]:
    """Names of the formats that are read."""
    return tuple(name for name, _ in _readers())


def recognised(path: Path) -> str | None:
    """The name of the format of a file, None where it is of none that is a timeline."""
    head = Source(path).head()
    return next((name for name, module in _readers() if module.recognises(head, path)), None)


def read_trace(path: str | Path, *, progress: Progress | None = None) -> list[Trace]:
    """The traces of a file, one for each rank in it, whatever its name: its content says what it is.

    Raises:
        FileFormatError: it is of no format that is read, is empty, or holds no events.
    """
    path = Path(path)
    if path.is_dir():
        raise FileFormatError(f"{path}: it is a folder; right would be the files of a trace")
    name = recognised(path)
    if name is None:
        raise FileFormatError(f"{path}: it {_otherwise(path)}")
    found: list[Trace] = import_module(f"{__name__}.{name}").read(path, progress)
    return found


def _otherwise(path: Path) -> str:
    """A clause about a file that is no timeline."""
    from . import records  # a file that is read needs none of it

    others = records.recognised(path)
    if others:
        return f"holds {' and '.join(others)}, which is no timeline; right would be synperf.read_records"
    known = f"{', '.join(formats())}, and of what is no timeline {', '.join(records.formats())}"
    return f"{looks(path)}; read are {known}"
