"""Raw memory timelines of torch (`export_memory_timeline` to `.raw.json.gz`): [ns, action, signed bytes, category].

The running sum is what is live; what was there before has time -1. Source: torch/profiler/_memory_profiler.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import FileFormatError
from ...light_classes import dataclass
from ..events import Caution
from ..sources import Source
from .damage import damage

FORMAT = "memory_timeline"
ACTIONS = {1: "existing", 2: "create", 3: "new version", 4: "destroy"}
CATEGORIES = (
    "parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown"
)  # fmt: skip
_BEGINS = re.compile(rb"\s*\[\s*\[\s*-?\d+\s*,\s*[1-4]\s*,\s*-?\d+\s*,\s*[0-7]\s*\]")
_ROW = re.compile(rb"\[\s*(-?[1-8]?\d{1,18})\s*,\s*([1-4])\s*,\s*(-?\d{1,18})\s*,\s*([0-7])\s*\]")
_BETWEEN = re.compile(rb"[\s,\[\]]+")
_LONGEST = 2**10  # bytes of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """Memory of one category: its own peak, and what it held when all of them together were at theirs."""

    name: str
    entries: int
    peak_bytes: int
    at_peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimeline:
    """`peak_ns` is on the clock of the timeline, -1 where the peak was before it began."""

    source: str
    entries: int
    actions: Mapping[str, int]
    peak_bytes: int
    peak_ns: int
    end_bytes: int
    first_ns: int
    last_ns: int
    categories: tuple[Category, ...]
    cautions: tuple[Caution, ...]


def recognises(head: bytes, path: Path) -> bool:  # noqa: ARG001
    """Whether the first bytes, unpacked, are those of such a timeline."""
    return _BEGINS.match(head) is not None


def read(path: Path) -> MemoryTimeline:
    """The peak and who holds it.

    Raises:
        FileFormatError: none of its rows can be read.
    """
    source = Source(path)
    rows, unread = _rows(source)
    if not len(rows):
        raise FileFormatError(
            f"{path.name}: no row of this memory timeline can be read; right would be 4 whole numbers"
        )
    live = np.cumsum(rows[:, 2])
    peak = int(np.argmax(live))
    kinds, counts = np.unique(rows[:, 1], return_counts=True)
    actions = {ACTIONS[kind]: count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)}
    return MemoryTimeline(
        source=path.name, entries=len(rows), actions=actions, peak_bytes=int(live[peak]), peak_ns=int(rows[peak, 0]),
        end_bytes=int(live[-1]), first_ns=int(rows[0, 0]), last_ns=int(rows[-1, 0]),
        categories=_categories(rows, peak), cautions=tuple(damage(source, "rows", unread, len(rows))),
    )  # fmt: skip


def _rows(source: Source) -> tuple[NDArray[np.int64], int]:
    """All rows, and how many pieces between them are none."""
    parts, rest, unread = [np.empty((0, 4), dtype=np.int64)], b"", 0
    for chunk in source.chunks():
        text, end, rest = (rest + chunk).rpartition(b"]")
        found, odd = _of(text + end)
        parts.append(found)
        unread += odd
        rest = rest[-_LONGEST:]
    return np.concatenate(parts), unread + bool(rest.strip(b"[], \r\n\t"))


def _of(text: bytes) -> tuple[NDArray[np.int64], int]:
    found = np.array(_ROW.findall(text), dtype="S20").reshape(-1, 4).astype(np.int64)
    left = _BETWEEN.sub(b" ", _ROW.sub(b"\n;", text)).replace(b";", b"").split()
    return found, -(-len(left) // 4)


def _categories(rows: NDArray[np.int64], peak: int) -> tuple[Category, ...]:
    """What is at the peak, the most first."""
    made = []
    for number in np.unique(rows[:, 3]).tolist():
        here = rows[:, 3] == number
        live = np.cumsum(np.where(here, rows[:, 2], 0))
        made.append(
            Category(
                name=CATEGORIES[number],
                entries=int(here.sum()),
                peak_bytes=int(live.max()),
                at_peak_bytes=int(live[peak]),
            )
        )
    return tuple(sorted(made, key=lambda one: -one.at_peak_bytes))
