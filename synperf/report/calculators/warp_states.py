"""What the warps of a scheduler do, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.warp_states import WarpStates
from ...units import format_percent
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section


def to_dict(found: WarpStates) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: WarpStates) -> str:
    """Warps of a scheduler, what they wait for, why, and what to do."""
    warps = f"{found.active:g} active, {found.eligible:g} eligible, {found.issued:g} issued, of {found.max_warps:g}"
    shown = [
        ("warps", warps),
        ("issue slots", f"{format_percent(found.issue_slot_utilization)} used"),
        ("one warp", f"issues every {found.warps_to_fill:.3g} cycles"),
        ("stalls", ", ".join(f"{reason} {format_percent(share)}" for reason, share in found.stalls.items())),
    ]
    verdict = "latency bound" if found.latency_bound else "not latency bound"
    return paragraphs(verdict, labelled(shown), section("why", found.why), section("advice", found.advice))


def to_svg(found: WarpStates) -> str:
    """Warps of a scheduler by what they do."""
    warps = {
        "held at most": [found.max_warps],
        "active": [found.active],
        "eligible": [found.eligible],
        "issued": [found.issued],
    }
    return bars.side_by_side("Warps of a scheduler in a cycle", (), warps, words=(*found.why, *found.advice))
