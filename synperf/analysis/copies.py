"""Copies and memsets of a device: by direction and kind of host memory, bytes, time and bandwidth."""

from __future__ import annotations

import re

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Column, Kind, aligned, distinct
from ..units import counted, format_quantity
from .finding import Finding, told
from .work import Work

_DIRECTION = re.compile(r"\b(HtoD|DtoH|DtoD|HtoH|PtoP)\b", re.I)
_HOST_MEMORY = re.compile(r"\b(pageable|pinned)\b", re.I)
_WORTH = 0.01  # share of the span below which pageable copies are not worth a finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """All copies of one kind on one device. `bytes` and the bandwidth are None where the trace does not say them.

    `bytes_per_s` is over the time of the copies whose bytes are known. `host_memory` is pageable, pinned, or empty
    where no host is concerned or the trace does not say which.
    """

    rank: int | None
    device: int
    direction: str  # HtoD, DtoH, DtoD, ..., memset
    host_memory: str
    count: int
    total_ns: int
    bytes: int | None
    bytes_per_s: float | None


def copies(work: Work) -> tuple[Copies, ...]:
    """Every kind of copy, the one that takes most first."""
    events = work.events
    kinds: dict[tuple[str, str], list[int]] = {}
    for name in distinct(events.name[work.copies]).tolist():
        rows = work.copies[events.name[work.copies] == name]
        for kind in distinct(events.kind[rows]).tolist():
            key = _kind(events.names[name], Kind(kind))
            kinds.setdefault(key, []).extend(rows[events.kind[rows] == kind].tolist())
    made = [_measured(work, key, np.array(rows)) for key, rows in kinds.items()]
    return tuple(sorted(made, key=lambda one: (-one.total_ns, one.direction)))


def _kind(name: str, kind: Kind) -> tuple[str, str]:
    if kind == Kind.MEMSET:
        return "memset", ""
    direction, memory = _DIRECTION.search(name), _HOST_MEMORY.search(name)
    return direction[1] if direction else "unknown", memory[1].lower() if memory else ""


def _measured(work: Work, key: tuple[str, str], rows: Column) -> Copies:
    moved, dur = aligned(work.events.moved, "bytes", rows), work.events.dur_ns[rows]
    known = moved >= 0
    moved_bytes, time = int(moved[known].sum()), int(dur[known].sum())
    return Copies(
        rank=work.trace.rank,
        device=work.device,
        direction=key[0],
        host_memory=key[1],
        count=len(rows),
        total_ns=int(dur.sum()),
        bytes=moved_bytes if known.any() else None,
        bytes_per_s=1e9 * moved_bytes / time if known.any() and time else None,
    )


def findings(found: tuple[Copies, ...], span_ns: int) -> list[Finding]:
    """Copies from or to pageable memory, where they take a share of the span that is worth it."""
    made = []
    for one in found:
        if one.host_memory == "pageable" and one.total_ns > _WORTH * span_ns and one.bytes_per_s:
            moved = f"{format_quantity(one.bytes or 0, 'B')} at {format_quantity(one.bytes_per_s, 'B/s')}"
            made.append(
                Finding(
                    title=f"{one.direction} copies use pageable host memory",
                    evidence=f"{counted(one.count, 'transfer')} of {moved} take {told(one.total_ns)}",
                    advice="Pin the host memory (pin_memory=True) and copy with non_blocking=True: they are faster"
                    " then, and may run beside kernels.",
                    rank=one.rank,
                )
            )
    return made
