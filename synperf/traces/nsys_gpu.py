"""GPU work of an Nsight Systems export: kernels, copies, memsets, waits, and graphs that were recorded as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from .events import Column, Kind
from .nsys_rows import PLACE, Batch, Rows, or_none

GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_WHERE = ("globalPid", "deviceId", "streamId", "correlationId")
_DEVICE, _STREAM, _CORRELATION, _OWN = range(len(PLACE) + 1, len(PLACE) + 5)  # columns; from the last on a table's own
_LAUNCH = (
    "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
    "dynamicSharedMemory",
)  # fmt: skip
# CUpti_ActivityMemcpyKind, and then those of Nsight Systems for unified memory
_DIRECTIONS = (
    "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP",
    "HtoD unified", "DtoH unified", "DtoD unified",
)  # fmt: skip
_WAITS = ("Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync")  # CUpti_ActivitySynchronizationType


def kernels(rows: Rows) -> None:
    text = rows.tables.string
    columns = (*_WHERE, "demangledName", "shortName", *_LAUNCH)
    for batch in rows.batches("CUPTI_ACTIVITY_KIND_KERNEL", columns, "kernels"):
        names = batch.named((_OWN, _OWN + 1), lambda full, short: text(full) or text(short))
        _geometry(batch, _add(batch, Kind.KERNEL, names), or_none(batch.own[:, _OWN + 2 :]))


def _geometry(batch: Batch, added: Column, launch: Column) -> None:
    shared = launch[:, 7:]
    batch.builder.add_side(
        "geometry", added, grid=launch[:, :3], block=launch[:, 3:6], registers=launch[:, 6],
        shared_bytes=np.where((shared < 0).any(axis=1), -1, shared.sum(axis=1)),
    )  # fmt: skip


def copies(rows: Rows) -> None:
    """Copies are named as the PyTorch profiler does: `Memcpy HtoD (Pageable -> Device)`."""
    memories = rows.tables.pairs("ENUM_CUDA_MEM_KIND", "id", "label")

    def name(kind: int, source: int, target: int) -> str:
        direction = _DIRECTIONS[kind if 0 < kind < len(_DIRECTIONS) else 0]
        sides = [memories.get(side, "") for side in (source, target)]
        between = f" ({' -> '.join(sides)})" if all(sides) else ""
        return f"Memcpy {direction}{between}"

    for batch in rows.batches(
        "CUPTI_ACTIVITY_KIND_MEMCPY", (*_WHERE, "bytes", "copyKind", "srcKind", "dstKind"), "copies"
    ):
        _moved(batch, Kind.MEMCPY, batch.named((_OWN + 1, _OWN + 2, _OWN + 3), name))


def memsets(rows: Rows) -> None:
    for batch in rows.batches("CUPTI_ACTIVITY_KIND_MEMSET", (*_WHERE, "bytes"), "memsets"):
        _moved(batch, Kind.MEMSET, batch.builder.texts["Memset"])


def waits(rows: Rows) -> None:
    for batch in rows.batches("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", (*_WHERE, "syncType"), "waits"):
        _add(batch, Kind.SYNC, batch.named((_OWN,), lambda kind: _WAITS[kind if 0 < kind < len(_WAITS) else 0]))


def graphs(rows: Rows) -> None:
    """Busy time whose kernels are not known."""
    for batch in rows.batches(GRAPHS, (*_WHERE, "graphId"), "graphs"):
        _add(batch, Kind.KERNEL, batch.named((_OWN,), "CUDA graph {}".format))


def _moved(batch: Batch, kind: Kind, names: Any) -> None:
    batch.builder.add_side("moved", _add(batch, kind, names), bytes=or_none(batch.own[:, _OWN]))


def _add(batch: Batch, kind: Kind, names: Any) -> Column:
    device, stream, correlation = (or_none(batch.own[:, place]) for place in (_DEVICE, _STREAM, _CORRELATION))
    return batch.add(kind, names, device=device, stream=stream, correlation=correlation)
