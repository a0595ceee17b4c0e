"""What the host did in an Nsight Systems export: calls of runtime and driver, the profiler's own time, NVTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .events import Column, Kind
from .nsys_rows import LOW_BITS, PLACE, Batch, Rows, or_none

_CALL = ("globalTid", "correlationId", "nameId")
_THREAD, _CORRELATION, _NAME = range(len(PLACE), len(PLACE) + 3)
_CALL_VERSION = re.compile(r"_v\d+$")  # cudaLaunchKernel_v7000
_NVTX = ("globalTid", "textId", "eventType")
_TEXT, _TYPE = _CORRELATION, _NAME
_MARKS, _RANGES = (34, 65), (59, 60, 70, 71)  # ENUM_NSYS_EVENT_TYPE
_OPERATOR = re.compile(r"(.+?), (?:seq = \d+, )?op_id = \d+(?:, sizes = (\[.*?\])(?=, input_op_ids|$))?")  # emit_nvtx


def calls(rows: Rows) -> None:
    for batch in rows.batches("CUPTI_ACTIVITY_KIND_RUNTIME", _CALL, "calls"):
        numbers = np.unique(batch.own[:, _NAME])
        runtime = [number for number in numbers.tolist() if rows.tables.string(number).startswith("cuda")]
        kind = np.where(np.isin(batch.own[:, _NAME], runtime), Kind.RUNTIME, Kind.DRIVER)
        _add(batch, kind, batch.named((_NAME,), lambda number: _CALL_VERSION.sub("", rows.tables.string(number))))


def overheads(rows: Rows) -> None:
    for batch in rows.batches("CUPTI_ACTIVITY_KIND_OVERHEAD", _CALL, "overheads"):
        _add(batch, Kind.OVERHEAD, batch.named((_NAME,), rows.tables.string))


def _add(batch: Batch, kind: Any, names: Any) -> None:
    batch.add(kind, names, thread=batch.own[:, _THREAD] & LOW_BITS, correlation=or_none(batch.own[:, _CORRELATION]))


def nvtx(rows: Rows) -> None:
    """Ranges and marks; those of PyTorch's `emit_nvtx` are operators."""
    for batch in _events(rows):
        said = zip(batch.texts, batch.own[:, _TEXT].tolist(), strict=True)
        texts = [text if isinstance(text, str) else rows.tables.string(number) for text, number in said]
        found = [_OPERATOR.match(text) for text in texts]
        names = [match[1] if match else text for match, text in zip(found, texts, strict=True)]
        is_operator = np.array([match is not None for match in found], dtype=bool)
        is_mark = np.isin(batch.own[:, _TYPE], _MARKS)
        kind = np.where(is_mark, Kind.MARK, np.where(is_operator, Kind.OPERATOR, Kind.ANNOTATION))
        ids = batch.builder.texts
        added = batch.add(kind, [ids[name] for name in names], thread=batch.own[:, _THREAD] & LOW_BITS)
        _shapes(batch, added, [match[2] if match and match[2] else "" for match in found])


def _events(rows: Rows) -> Iterator[Batch]:
    """Of the table's rows those that are events; a mark ends where it begins."""
    for numbers, texts in rows.tables.rows("NVTX_EVENTS", (*PLACE, *_NVTX), "text"):
        is_mark = np.isin(numbers[:, _TYPE], _MARKS)
        numbers[is_mark, 1] = numbers[is_mark, 0]
        kept = np.flatnonzero(is_mark | np.isin(numbers[:, _TYPE], _RANGES))
        yield from rows.split(numbers[kept], [texts[row] for row in kept.tolist()], "NVTX ranges")


def _shapes(batch: Batch, added: Column, dims: list[str]) -> None:
    rows = np.array([row for row, text in enumerate(dims) if text], dtype=np.int64)
    ids = batch.builder.texts
    none = ids[""]
    batch.builder.add_side(
        "arguments", added[rows], dims=[ids[dims[row]] for row in rows.tolist()], types=none, strides=none, values=none
    )
