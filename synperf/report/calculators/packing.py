"""Packed sequences as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

from ...calculators.packing import Packing
from ...units import format_percent
from ..charts import lanes
from ..text import counted, labelled, paragraphs, section

_SHOWN = 12  # rows in text and in the drawing


def to_dict(found: Packing) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Packing) -> str:
    """How many rows and how full; the first of them."""
    head = f"{found.sequences:,} sequences in {counted(found.bins, 'row')} of {found.capacity:,} tokens"
    lines = [
        ("filled", format_percent(found.utilization)),
        ("least", f"{counted(found.least_bins, 'row')}, {'reached' if found.is_optimal else 'by a bound from below'}"),
        ("attention", f"{format_percent(found.attention_overhead)} more if it does not heed where sequences end"),
    ]
    rows = [f"{' + '.join(map(str, row[:10]))}{' ...' if len(row) > 10 else ''}" for row in found.packed[:_SHOWN]]
    rest = found.bins - _SHOWN
    return paragraphs(
        head,
        labelled(lines),
        section("rows", [*rows, *([f"... and {rest:,} more (--json has all)"] if rest > 0 else [])]),
        section("why", found.why),
        section("advice", found.advice),
    )


def to_svg(found: Packing) -> str:
    """Sequences one after another in their rows."""
    drawn = {
        f"row {place}": [
            lanes.Block(start, end, at % 2, str(end - start)) for at, (start, end) in enumerate(pairwise(ends))
        ]
        for place, ends in enumerate(found.cu_seqlens[:_SHOWN])
    }
    return lanes.draw("Sequences packed into rows", (), drawn, shown=lambda tokens: f"{tokens:,.0f}", words=found.why)
