"""How many instructions have to be independent, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.ilp import Ilp, instructions
from ..charts import lines
from ..known import known
from ..text import labelled, number, paragraphs, section

_SHOWN = 16  # warps of a scheduler: all that one of NVIDIA's holds


def to_dict(found: Ilp) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: Ilp) -> str:
    """Instructions of a warp, why, and what else would do."""
    shown = [
        ("independent", f"{number(found.instructions)} instructions of each warp"),
        ("or warps", f"{number(found.warps_alone)} of a scheduler, with one instruction at a time"),
    ]
    return paragraphs(labelled(shown), section("why", found.why), section("advice", found.advice))


def to_svg(found: Ilp) -> str:
    """Independent instructions over warps of a scheduler."""
    warps = list(range(1, max(_SHOWN, found.warps_per_scheduler) + 1))
    in_flight = found.pipe_latency_cycles * found.issue_per_clk
    curve = lines.Curve(
        f"a latency of {found.pipe_latency_cycles:g} cycles",
        [float(n) for n in warps],
        [float(instructions(in_flight, n)) for n in warps],
        step=True,
    )
    chart = lines.Chart(
        title="Independent instructions of a warp that hide the latency of a pipe",
        x=lines.Axis("warps of a scheduler"),
        y=lines.Axis("instructions"),
        curves=[curve],
        marks=[lines.Mark(f"{found.instructions} each", found.warps_per_scheduler, found.instructions)],
        words=(*found.why, *found.advice),
    )
    return lines.draw(chart)
