"""The tables in an output of Nsight Compute: each begins with a header, whose columns say its shape."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from ...light_classes import dataclass

HEADER = re.compile(rb'^"(?:ID|Process ID)","[^\n]*"Kernel Name"', re.M)
_HEADER_TEXT = re.compile(HEADER.pattern.decode())
_BETWEEN = '","'  # two fields
_TOGETHER = (("Metric Name", "Metric Unit"), ("Rule Name", "Rule Type", "Rule Description"))
_VALUES = ("Metric Value", "Average")
_AFTER_METRICS = 6  # fields that rows of metrics may lack: those of a rule, and one
Cells = dict[str, str]


@dataclass(slots=True)
class Block:
    """One table. `units` are those of a wide one by column."""

    columns: list[str]
    rows: list[Cells] = field(default_factory=list)
    units: Cells = field(default_factory=dict)
    unread: int = 0

    @property
    def shape(self) -> str:
        if "Metric Name" not in self.columns:
            return "wide"
        return "summary" if "Average" in self.columns else "long"

    @property
    def fewest(self) -> int:
        """Fields of a row: a row of metrics may be shorter than the header, one of another table not."""
        return len(self.columns) - (_AFTER_METRICS if self.shape == "long" else 0)

    @property
    def is_odd(self) -> bool:
        """Whether a column is missing that tables with others of these have."""
        parts = [[name in self.columns for name in names] for names in _TOGETHER]
        has_value = any(name in self.columns for name in _VALUES)
        return has_value != parts[0][0] or any(any(part) and not all(part) for part in parts)


def blocks(lines: Iterable[str]) -> Iterator[Block]:
    """The tables, in the order of the text."""
    block: Block | None = None
    for line in lines:
        if _HEADER_TEXT.match(line):
            if block is not None:
                yield block
            block = Block(_cells(line))
        elif block is not None and line.startswith('"'):
            _add(block, _cells(line))
        elif block is not None and line.count(_BETWEEN) >= block.fewest - 2:
            block.unread += 1
    if block is not None:
        yield block


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _add(block: Block, cells: list[str]) -> None:
    if not block.fewest <= len(cells) <= len(block.columns):
        block.unread += 1
        return
    row = dict(zip(block.columns, cells, strict=False))
    if block.shape == "wide" and not row.get("ID") and not block.units:
        block.units = row
    else:
        block.rows.append(row)
