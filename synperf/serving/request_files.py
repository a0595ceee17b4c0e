"""Files of requests: a trace of when each came, or one static batch.

A trace is a table (.csv, .jsonl, .parquet, or CSV on standard input) with columns `arrived_at_s`, `isl`, `osl`, and
`cached` where prefixes are in the cache; other columns are the user's own. A .json document of either kind is
`{"requests": [{"isl": 1024, "osl": 128}, ...]}` with these fields and no other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import FieldError, FileFormatError, PerfError, named
from ..tables.batch import Batch, Cells, is_empty
from ..tables.files import read
from .lengths import MOST_REQUESTS, finite, one
from .workload import LATEST_S, RequestTrace, StaticBatch

_ARRIVED = "arrived_at_s"
_LENGTHS = {"isl": 1, "osl": 1, "cached": 0}  # and the least of each
_OPTIONAL = "cached"


def trace(source: str | Path) -> RequestTrace:
    """The requests of a trace; `-` is CSV on standard input.

    Raises:
        PerfError: the file cannot be read, or does not hold what it should; the message names the place.
    """
    is_document = Path(source).suffix.lower() == ".json"
    batches = _document("workload", source, (_ARRIVED, *_LENGTHS)) if is_document else read("workload", source)
    columns = _columns(source, batches, (_ARRIVED, *_LENGTHS))
    with named(Path(source).name):
        return RequestTrace(arrived_s=columns.pop(_ARRIVED), **columns)


def static_batch(source: str | Path) -> StaticBatch:
    """The requests of one static batch, a JSON document.

    Raises:
        PerfError: the file cannot be read, or does not hold what it should; the message names the place.
    """
    columns = _columns(source, _document("batch_file", source, tuple(_LENGTHS)), tuple(_LENGTHS))
    with named(Path(source).name):
        return StaticBatch(**columns)


def _columns(source: str | Path, batches: Iterable[Batch], names: tuple[str, ...]) -> dict[str, list[Any]]:
    """The numbers of all batches by name."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    try:
        for batch in batches:
            if len(found["isl"]) + batch.size > MOST_REQUESTS:
                raise FieldError(f"{batch.name}: more than {MOST_REQUESTS} requests; right would be a part of them")
            for name in names:
                found[name] += _numbers(batch, name, names)
    except OSError as error:
        raise PerfError(f"{source}: {error.strerror or error}") from error
    return found


def _numbers(batch: Batch, name: str, names: tuple[str, ...]) -> list[Any]:
    if name not in batch.columns:
        if name == _OPTIONAL or not batch.size:
            return [0] * batch.size
        needed = ", ".join(other for other in names if other != _OPTIONAL)
        there = ", ".join(batch.columns)[:200] or "none"
        raise FieldError(f"{batch.name}: no column {name} among {there}; right would be {needed}")
    cells: Cells = batch.columns[name]
    number = _reader(name)
    return [_read(batch, i, number, cell) for i, cell in enumerate(cells)]


def _reader(name: str) -> Callable[[Any], Any]:
    """What turns a cell of a column into a number."""
    if name == _ARRIVED:
        return lambda cell: finite(name, cell, 0, LATEST_S, "seconds")
    if name == _OPTIONAL:
        return lambda cell: 0 if is_empty(cell) else one(name, cell, _LENGTHS[name])
    return lambda cell: one(name, cell, _LENGTHS[name])


def _read(batch: Batch, i: int, number: Callable[[Any], Any], cell: Any) -> Any:
    try:
        return number(cell)
    except PerfError as error:
        raise type(error)(f"{batch.name} {batch.place(i)}: {error}") from error


def _document(field: str, source: str | Path, names: tuple[str, ...]) -> Iterator[Batch]:
    """The requests of a JSON document, as one batch."""
    name = Path(source).name
    try:
        found = json.loads(Path(source).read_bytes())
    except FileNotFoundError:
        raise FieldError(f"{field}: no file {str(source)!r}") from None
    except RecursionError as error:
        raise FileFormatError(f"{name}: nested too deeply") from error
    except ValueError as error:  # not JSON, not UTF-8, a number of too many digits, or a NUL in the name
        raise FileFormatError(f"{name}: not JSON: {str(error)[:100]}") from error
    requests = found.get("requests") if isinstance(found, Mapping) else None
    if not isinstance(requests, list) or not requests:
        fields = ", ".join(f'"{one}": ...' for one in names if one != _OPTIONAL)
        raise FileFormatError(f'{name}: right would be {{"requests": [{{{fields}}}, ...]}} with one request or more')
    for i, request in enumerate(requests):
        _check(f"{name} requests[{i}]", request, names)
    columns: dict[str, Cells] = {key: [request.get(key) for request in requests] for key in names}
    yield Batch(name=name, columns=columns, size=len(requests), place=lambda i: f"requests[{i}]")


def _check(where: str, request: Any, names: tuple[str, ...]) -> None:
    """Checks that an item of a document is a request.

    Raises:
        FileFormatError: it is no object, or has fields that no request has.
        FieldError: it lacks one.
    """
    if not isinstance(request, Mapping):
        raise FileFormatError(f"{where}: not an object, right would be one with {', '.join(names)}")
    other = [key for key in request if key not in names]
    if other:
        raise FileFormatError(f"{where}: no field {other[0]!r}, right would be {', '.join(names)}")
    lacks = [key for key in names if key not in request and key != _OPTIONAL]
    if lacks:
        raise FieldError(f"{where}: {lacks[0]} is missing")
