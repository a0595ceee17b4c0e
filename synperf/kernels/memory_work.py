"""What a memory-bound call must read, write and compute, whatever kernel does it: `Work`, from the family's facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..hardware import DType
from ..numeric import Number
from .memory_traits import Facts, facts, scales

INDEX_BYTES = 8.0  # tokens and slots are int64, as PyTorch's


@dataclass(slots=True, kw_only=True)
class Work:
    """`rows` rows of `dim` values; bytes and operations of a value, beside those of a row or of a column.

    `streams_in` and `streams_out` are arrays that are walked along the rows at once, with `value_in` and `value_out`
    bytes per value. `column_bytes` are read by all rows alike. `unique_in` is the share of the rows that are
    read which differ, where some are read more than once.
    """

    rows: Number
    dim: Number
    is_flat: bool = False  # one array without rows, which CTAs divide as they like
    value_in: float
    streams_in: float
    value_out: float
    streams_out: float
    beside_out: Number = 0.0  # bytes per value: scales of blocks, a residual, sums of columns
    row_in: Number = 0.0
    row_out: Number = 0.0
    column_bytes: float = 0.0
    unique_in: Number = 1.0
    flop: Number = 0.0
    executed: float = 1.0
    xu: float = 0.0
    row_xu: float = 0.0
    passes: Number = 1.0
    reductions: float = 0.0

    @property
    def values(self) -> Number:
        """Values of one stream."""
        return 1.0 * self.rows * self.dim

    @property
    def read(self) -> Number:
        """Bytes per value that are read once, without those of columns."""
        return self.streams_in * self.value_in + self.row_in / self.dim

    @property
    def written(self) -> Number:
        """Bytes per value that are written."""
        return self.streams_out * self.value_out + self.beside_out + self.row_out / self.dim

    @property
    def compulsory_bytes(self) -> Number:
        """Every operand read once, the result written once."""
        own = self.streams_in * self.value_in * self.unique_in + self.row_in / self.dim
        return self.values * (own + self.written) + self.dim * self.column_bytes


def row_work(p: Any) -> Work:
    """Rows that are read and written as the family's facts say, with what `residual` and `quant_dtype` add."""
    work = of_facts(facts(p.FAMILY), p.rows, p.dim, p.dtype)
    if getattr(p, "residual", False):  # added, and the sum written for the next layer
        work.streams_in += 1.0
        work.flop += 1.0
        work.beside_out += p.dtype.bytes
    written = getattr(p, "quant_dtype", None)
    if written is not None:
        _quantise(work, written)
    return work


def _quantise(work: Work, written: DType) -> None:
    """A result in another format, with its scales: one per row needs the maximum of the row first."""
    beside, own = scales(written), facts("quantize")
    work.value_out = written.bytes
    work.beside_out += beside.bytes / beside.block
    work.row_out = beside.row
    work.flop += own.flop
    work.reductions += 1.0 if beside.row else 0.0


def of_facts(known: Facts, rows: Number, dim: Number, dtype: DType) -> Work:
    """Rows of one format, in and out."""
    return Work(
        rows=rows,
        dim=dim,
        value_in=dtype.bytes,
        streams_in=known.reads,
        value_out=dtype.bytes,
        streams_out=known.writes,
        column_bytes=known.parameters * dtype.bytes,
        flop=known.flop,
        executed=known.executed,
        xu=known.xu,
        row_xu=known.row_xu,
        passes=float(known.passes),
        reductions=float(known.reductions),
    )
