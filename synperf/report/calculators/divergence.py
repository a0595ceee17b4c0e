"""What a branch costs a warp, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.divergence import Divergence
from ...units import format_percent
from ..charts import lanes
from ..known import known
from ..text import labelled, number, paragraphs, section


def to_dict(found: Divergence) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: Divergence) -> str:
    """Cycles, what they are used for, why, and how to avoid them."""
    lines = [
        ("cycles", f"{number(found.cycles)} of one warp"),
        ("efficiency", f"{format_percent(found.efficiency)} of its lane cycles"),
        ("regrouped", f"{number(found.regrouped_cycles)} cycles a warp, {number(found.speedup)} times the throughput"),
    ]
    return paragraphs(labelled(lines), section("why", found.why), section("advice", found.advice))


def to_svg(found: Divergence) -> str:
    """A lane of time for the lanes of each path; where it is grey they wait."""
    drawn: dict[str, list[lanes.Block]] = {}
    start = 0.0
    for place, (path, count) in enumerate(zip(found.paths, found.lanes, strict=True)):
        if count:
            block = lanes.Block(start, start + path, place, f"{path:g} cycles")
            drawn[f"{count} lanes, path {place}"] = [block]
            start += path
    idle = found.warp_size - sum(found.lanes)
    if idle:
        drawn[f"{idle} lanes on no path"] = []
    kinds = [f"path {place}" for place in range(len(found.paths))]
    return lanes.draw("Cycles of one warp", kinds, drawn, number, found.why)
