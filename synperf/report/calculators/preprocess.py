"""What prepares the inputs, stage by stage, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.preprocess import Preprocess
from ...units import format_percent, format_time
from ..charts import bars
from ..text import number, paragraphs, section, table

_HEADS = ("stage", "an item takes", "workers", "items/s", "needed")


def to_dict(found: Preprocess) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Preprocess) -> str:
    """What reaches the GPU, and every stage."""
    busy = f"{number(found.items_per_s)} items/s reach a GPU that takes {number(found.gpu_items_per_s)}"
    rows = [
        (one.name, format_time(one.effective_s), str(one.workers), number(one.items_per_s), str(one.workers_needed))
        for one in found.stages
    ]
    head = f"{busy}: busy {format_percent(found.gpu_busy)} of the time, bound by {found.bottleneck}"
    return paragraphs(head, table(_HEADS, rows, _HEADS[1:]), section("why", found.why), section("advice", found.advice))


def to_svg(found: Preprocess) -> str:
    """Items a second of every stage and of the GPU."""
    rates = {one.name: [one.items_per_s] for one in found.stages} | {"GPU": [found.gpu_items_per_s]}
    return bars.side_by_side("Items a second", (), rates, words=found.why)
