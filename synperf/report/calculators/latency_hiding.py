"""What has to be in flight to hide a latency, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.latency_hiding import LatencyHiding
from ...units import format_binary, format_percent, format_quantity
from ..charts import lines
from ..known import known
from ..text import counted, labelled, paragraphs, section


def to_dict(found: LatencyHiding) -> dict[str, Any]:
    """Every field that has a value."""
    return known(found)


def to_text(found: LatencyHiding) -> str:
    """Bytes in flight, the threads that have them, why, and what else would do."""
    each = f"{counted(found.loads, 'load')} of {found.bytes_per_load} bytes each"
    shown = [
        ("in flight", f"{format_quantity(found.bytes_in_flight, 'B', 4)}, {format_binary(found.bytes_per_sm)} an SM"),
        ("threads", f"{found.threads_per_sm:,} of an SM ({found.warps_per_sm} warps), with {each}"),
        ("resident", f"{found.resident_threads:,} threads, {counted(found.loads_per_thread, 'load')} of each needed"),
        ("attainable", f"{format_percent(found.attainable)} of {format_quantity(found.bandwidth, 'B/s', 4)}"),
    ]
    return paragraphs(labelled(shown), section("why", found.why), section("advice", found.advice))


def to_svg(found: LatencyHiding) -> str:
    """The bandwidth that threads of an SM reach."""
    most = max(found.resident_threads, 2 * found.threads_per_sm)
    needed = found.bytes_per_sm / (found.bytes_per_load * found.loads)
    curve = lines.Curve(
        f"{counted(found.loads, 'load')} of {found.bytes_per_load} bytes in flight of each",
        [0.0, needed, float(most)],
        [0.0, found.bandwidth, found.bandwidth],
    )
    chart = lines.Chart(
        title=f"Bandwidth of {found.level} over resident threads of an SM",
        x=lines.Axis("resident threads of an SM"),
        y=lines.Axis("bandwidth", shown=lambda value: format_quantity(value, "B/s")),
        curves=[curve],
        marks=[lines.Mark(f"{found.threads_per_sm:,} threads", needed, found.bandwidth)],
        words=(*found.why, *found.advice),
    )
    return lines.draw(chart)
