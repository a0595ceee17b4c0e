"""The answers about a trace as CSV files, one for each table of the JSON document, whose keys are the columns.

A list of objects in a row is a table of its own, `TABLE_FIELD`, whose first column is the row's number; another list is
JSON in its cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import msgspec

from ..analysis.timeline import Timeline
from ..analysis.whole import Analysis
from .analysis import to_dict

Row = Mapping[str, Any]


def to_csv(found: Analysis) -> dict[str, str]:
    """Text by the name of the file; a table without rows is none."""
    document = to_dict(found)
    document["files"] = document.pop("source")["files"]
    document["timeline"] = [row for one in found.timelines for row in _slices(one)]
    flat = {name: rows for key, of in document.items() for name, rows in _flat(key, of)}
    return {f"{name}.csv": _text(rows) for name, rows in flat.items() if rows}


def _slices(one: Timeline) -> Iterator[Row]:
    edges = zip(one.edges_ns, one.edges_ns[1:], strict=False)
    kinds = zip(one.compute_ns, one.exposed_copy_ns, one.exposed_comm_ns, one.idle_ns, strict=True)
    for (start, end), (compute, copy, comm, idle) in zip(edges, kinds, strict=True):
        yield {
            "rank": one.rank, "device": one.device, "start_ns": start, "dur_ns": end - start, "compute_ns": compute,
            "exposed_copy_ns": copy, "exposed_comm_ns": comm, "idle_ns": idle,
        }  # fmt: skip


def _flat(name: str, rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The table, and those that are in its rows."""
    inner = dict.fromkeys(key for row in rows for key, value in row.items() if _is_table(value))
    yield name, [{key: value for key, value in row.items() if key not in inner} for row in rows]
    for key in inner:
        yield f"{name}_{key}", [{f"{name}_row": at, **one} for at, row in enumerate(rows) for one in row[key]]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _text(rows: Sequence[Row]) -> str:
    out = StringIO(newline="")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict | bool):
        return msgspec.json.encode(value).decode()
    return value  # None is an empty cell
