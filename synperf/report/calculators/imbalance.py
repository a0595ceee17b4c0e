"""The times of ranks and what their difference costs, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.imbalance import Imbalance
from ...units import format_percent, format_time
from ..charts import bars
from ..known import known
from ..text import counted, labelled, paragraphs, section

_MOST_BARS = 32


def to_dict(found: Imbalance) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: Imbalance) -> str:
    """The efficiency, and which ranks the others wait for."""
    ranks = len(found.times)
    lines = [
        ("step", f"{format_time(found.step_s)}, that of the slowest"),
        ("mean", format_time(found.mean_s)),
        ("lost", f"{format_time(found.idle_s)} of waiting, over all {ranks} ranks"),
    ]
    return paragraphs(
        f"{format_percent(found.efficiency)} efficiency of {counted(ranks, 'rank')}",
        labelled(lines),
        section("why", found.why),
        section("advice", found.advice),
    )


def to_svg(found: Imbalance) -> str:
    """A bar for each rank, what it waits behind it; of many ranks the slowest ones."""
    order = sorted(range(len(found.times)), key=lambda rank: (-found.times[rank], rank))[:_MOST_BARS]
    rows = {f"rank {rank}": [found.times[rank], found.step_s - found.times[rank]] for rank in sorted(order)}
    return bars.stacked("Time of a step by rank", ("busy", "waiting"), rows, format_time, words=found.why)
