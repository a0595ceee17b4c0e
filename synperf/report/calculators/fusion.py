"""What fusing saves and costs, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.fusion import Fusion
from ...calculators.horizontal_fusion import HorizontalFusion
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..text import labelled, paragraphs, section, table

_HEADS = ("operator", "reads", "writes", "reads fused", "writes fused")
Answer = Fusion | HorizontalFusion


def to_dict(found: Answer) -> dict[str, Any]:
    """Every field that is known."""
    return {name: value for name, value in asdict(found).items() if value is not None}


def to_text(found: Answer) -> str:
    """The decision, and what it rests on."""
    body = _chain(found) if isinstance(found, Fusion) else _parallel(found)
    return paragraphs(*body, section("why", found.why), section("advice", found.advice))


def to_svg(found: Answer) -> str:
    """Accesses of every operator apart and fused; of parallel kernels their waves."""
    if isinstance(found, HorizontalFusion):
        waves = {"apart": [found.waves_before], "merged": [found.waves_after]}
        return bars.side_by_side("Waves", (), waves, words=found.why)
    names = [f"{place + 1} {one.name}" for place, one in enumerate(found.before)]
    groups = {
        name: [one.reads + one.writes, other.reads + other.writes]
        for name, one, other in zip(names, found.before, found.after, strict=True)
    }
    title = f"Accesses for each element: {', '.join(found.chain)}"
    return bars.side_by_side(title, ("apart", "fused"), groups, words=found.why)


def _chain(found: Fusion) -> tuple[str, ...]:
    rows = [
        (one.name, str(one.reads), str(one.writes), str(other.reads), str(other.writes))
        for one, other in zip(found.before, found.after, strict=True)
    ]
    held = "" if found.occupancy_before is None or found.occupancy_after is None else (
        f"{format_percent(found.occupancy_before)} to {format_percent(found.occupancy_after)}"
    )  # fmt: skip
    times = "" if found.time_before_s is None or found.time_after_s is None else (
        f"{format_time(found.time_before_s)} to {format_time(found.time_after_s)}"
    )  # fmt: skip
    saved = f"{found.bytes_saved_per_element:g} for each element, {format_quantity(found.bytes_saved, 'B', 4)} in all"
    return (
        f"{' -> '.join(found.chain)}: {found.decision}",
        table(_HEADS, rows, _HEADS[1:]),
        labelled([
            ("accesses", f"{found.accesses_before} to {found.accesses_after} for each element"),
            ("bytes saved", saved),
            ("kernels", f"{found.launches_before} to {found.launches_after}"),
            ("registers", f"{found.registers_added:+d} for each thread"),
            ("occupancy", held),
            ("time", times),
        ]),
    )  # fmt: skip


def _parallel(found: HorizontalFusion) -> tuple[str, ...]:
    return (
        f"{len(found.tiles)} kernels side by side: {found.decision}",
        labelled([
            ("waves", f"{found.waves_before} to {found.waves_after}, {found.speedup:.3g} times"),
            ("launches", f"{found.launches_before} to {found.launches_after}"),
        ]),
    )  # fmt: skip
