"""How long a model takes to load, part by part, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.load_time import LoadTime
from ...units import format_quantity, format_time
from ..charts import lanes
from ..text import labelled, paragraphs, section


def to_dict(found: LoadTime) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: LoadTime) -> str:
    """The parts that take time, and memory of several instances."""
    memory = "" if found.instances == 1 else (
        f"{format_quantity(found.bytes_apart, 'B', 4)} of {found.instances} instances apart, "
        f"{format_quantity(found.bytes_shared, 'B', 4)} with shared weights"
    )  # fmt: skip
    lines = [(name, format_time(seconds) if seconds else "") for name, seconds in _parts(found).items()]
    return paragraphs(
        f"{format_time(found.total_s)} until the model can answer",
        labelled([*lines, ("memory", memory)]),
        section("why", found.why),
        section("advice", found.advice),
    )


def to_svg(found: LoadTime) -> str:
    """The parts one after another."""
    blocks, start = {}, 0.0
    for kind, (name, seconds) in enumerate(_parts(found).items()):
        if seconds:
            blocks[name] = [lanes.Block(start, start + seconds, kind)]
            start += seconds
    return lanes.draw("Until a model can answer", (), blocks, words=found.why)


def _parts(found: LoadTime) -> dict[str, float]:
    return {
        "disk": found.disk_s,
        "host memory": found.host_alloc_s,
        "copy to the GPU": found.h2d_s,
        "graph": found.graph_s,
        "kernels (JIT)": found.jit_s,
    }
