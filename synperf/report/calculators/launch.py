"""What launching many short kernels costs, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...calculators.launch import Launching, Span
from ...units import format_percent, format_time
from ..charts import lanes
from ..known import known
from ..text import counted, paragraphs, section, table


def to_dict(found: Launching) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: Launching) -> str:
    """Each way of launching with its time, why, and which to take."""
    heads = ("launched", "time", "GPU busy", "saved")
    verdict = f"{counted(found.kernels, 'kernel')}, {format_time(found.kernels_s)} of GPU work"
    return paragraphs(
        verdict,
        table(heads, _rows(found), right=heads[1:]),
        section("why", found.why),
        section("advice", found.advice),
    )


def _rows(found: Launching) -> Iterator[tuple[str, ...]]:
    ways = {
        "one by one, by the textbook": found.ungraphed_s,
        "one by one, in a queue": found.queued_s,
        "as a CUDA graph": found.graph_s,
        f"from {found.streams} streams": found.streams_s,
        "as a persistent kernel": found.persistent_s,
    }
    for name, took in ways.items():
        saved = found.queued_s - took
        busy = format_percent(min(1.0, found.kernels_s / took))
        yield name, format_time(took, 4), busy, format_time(saved) if saved > 0 and took != found.ungraphed_s else ""


def to_svg(found: Launching) -> str:
    """The first launches and kernels, one by one and as a graph."""
    kernels = [lanes.Block(span.start_s, span.end_s, 1) for span in found.gpu]
    drawn = {
        "host": [lanes.Block(span.start_s, span.end_s, 0) for span in found.host],
        "GPU": kernels,
        "host, graph": [lanes.Block(0.0, found.launch_s, 0)],
        "GPU, graph": _one_after_the_other(found.gpu, found.launch_s),
    }
    title = f"The first {len(found.gpu)} of {found.kernels:,} kernels"
    return lanes.draw(title, ("launch", "kernel"), drawn, words=(*found.why, *found.advice))


def _one_after_the_other(spans: Sequence[Span], start: float) -> list[lanes.Block]:
    found = []
    for span in spans:
        end = start + span.end_s - span.start_s
        found.append(lanes.Block(start, end, 1))
        start = end
    return found
