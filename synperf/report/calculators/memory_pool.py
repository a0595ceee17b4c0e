"""A plan of memory as text, as JSON and drawn: offsets over steps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.memory_pool import MemoryPool
from ...units import format_percent, format_quantity
from .. import svg
from ..charts.frame import MARGIN, MUTED, TOP, WIDTH, axis_names, colour, document
from ..text import labelled, paragraphs, section, table

_SHOWN, _HEIGHT = 20, 280.0
_HEADS = ("tensor", "bytes", "first step", "last step", "offset")


def to_dict(found: MemoryPool) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: MemoryPool) -> str:
    """Peak, plan, and where tensors lie."""
    lines = [
        ("peak", f"{format_quantity(found.peak_bytes, 'B', 4)} alive at step {found.peak_step}"),
        ("pool", f"{format_quantity(found.pool_bytes, 'B', 4)}, {format_percent(found.fragmentation)} above the peak"),
        ("without reuse", format_quantity(found.without_reuse_bytes, "B", 4)),
    ]
    rows = [(t.name, f"{t.bytes:,}", str(t.first), str(t.last), f"{t.offset:,}") for t in found.tensors[:_SHOWN]]
    rest = len(found.tensors) - _SHOWN
    return paragraphs(
        labelled(lines),
        table(_HEADS, rows, _HEADS[1:]) + (f"\n... and {rest:,} more (--json has all)" if rest > 0 else ""),
        section("why", found.why),
        section("advice", found.advice),
    )


def to_svg(found: MemoryPool) -> str:
    """A box for each tensor, from its first step to its last, as high as its bytes."""
    steps = max(one.last for one in found.tensors) + 1
    across, up = (WIDTH - 2 * MARGIN) / steps, _HEIGHT / found.pool_bytes
    body = [svg.rect(MARGIN, TOP, WIDTH - 2 * MARGIN, _HEIGHT, MUTED)]
    for place, one in enumerate(found.tensors):
        x, width = MARGIN + one.first * across, (one.last + 1 - one.first) * across - 1
        y, high = TOP + _HEIGHT - (one.offset + one.bytes) * up, one.bytes * up - 1
        body.append(svg.rect(x, y, width, max(high, 0.5), colour(place)))
        if high > 14 and svg.width_of(one.name) < width:
            body.append(svg.text(x + width / 2, y + high / 2 + 4, one.name, anchor="middle", fill="#fff"))
    body += axis_names("offset in the pool", "step", MARGIN, TOP + _HEIGHT + 14)
    return document("A memory pool", body, TOP + _HEIGHT + 18, (), found.why)
