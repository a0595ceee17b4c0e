"""A step and what of its communication is hidden, as text, as JSON and drawn in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.overlap import Overlap
from ...units import format_percent, format_time
from ..charts.lanes import Block, draw
from ..known import known
from ..text import labelled, paragraphs, section, table

_FORWARD, _BACKWARD, _HIDDEN, _EXPOSED = range(4)
_KINDS = ("computation", "of it backward", "communication, hidden", "communication, exposed")
_MOST_ROWS = 12


def to_dict(found: Overlap) -> dict[str, Any]:
    """Every field that there is."""
    return known(found)


def to_text(found: Overlap) -> str:
    """The step, its parts, and the buckets."""
    head = f"{format_time(found.step_s)} a step, {format_percent(found.scaling_efficiency)} of what one GPU does"
    parts = [
        ("computation", format_time(found.compute_s)),
        ("communication", format_time(found.comm_s)),
        ("hidden", format_time(found.hidden_s)),
        ("exposed", format_time(found.exposed_s)),
    ]
    return paragraphs(
        head, labelled(parts), _buckets(found), section("why", found.why), section("advice", found.advice)
    )


def _buckets(found: Overlap) -> str:
    if not found.buckets:
        return ""
    heads = ("bucket", "ready", "from", "to")
    shown = found.buckets[:_MOST_ROWS]
    rows = [
        (str(at), *map(format_time, (one.ready_s, one.start_s, one.end_s))) for at, one in enumerate(shown, start=1)
    ]
    more = len(found.buckets) - len(shown)
    return table(heads, rows, right=heads) + (f"\nand {more} more" if more else "")


def to_svg(found: Overlap) -> str:
    """Computation above communication, over time."""
    return draw(
        "One step", _KINDS, {"computation": [*_compute(found)], "communication": [*_comm(found)]}, words=found.why
    )


def _compute(found: Overlap) -> Iterator[Block]:
    forward = found.compute_s - (found.backward_s or 0.0)
    if forward:
        yield Block(0.0, forward, _FORWARD)
    if found.backward_s:
        yield Block(forward, found.compute_s, _BACKWARD)


def _comm(found: Overlap) -> Iterator[Block]:
    spans = [(one.start_s, one.end_s, str(at)) for at, one in enumerate(found.buckets, start=1)]
    for start, end, label in spans or [(found.step_s - found.comm_s, found.step_s, "")]:
        if start < found.compute_s:
            yield Block(start, min(end, found.compute_s), _HIDDEN, label)
        if end > found.compute_s:
            yield Block(max(start, found.compute_s), end, _EXPOSED, label)
