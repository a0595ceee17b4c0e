"""The times of an all-reduce by algorithm, as text, as JSON and drawn over the size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.allreduce import AllReduce
from ...calculators.allreduce_times import Hops, times
from ...units import format_quantity, format_time
from ..charts.lines import Axis, Chart, Curve, Mark, draw
from ..known import known
from ..text import labelled, paragraphs, section

_POINTS_PER_DECADE, _DECADES = 8, 2  # of the drawing, at either side of what is marked


def to_dict(found: AllReduce) -> dict[str, Any]:
    """Every field that there is, and the time of each algorithm under its name: `ring_s`, `tree_s`, ..."""
    return known(found) | {f"{name}_s": seconds for name, seconds in found.times.items()}


def to_text(found: AllReduce) -> str:
    """The times, the fastest first, and why."""
    size = format_quantity(found.bytes, "B")
    least = format_time(found.times[found.fastest])
    head = f"{size} of each of {found.ranks} ranks: fastest is {_name(found.fastest)}, {least}"
    return paragraphs(
        head,
        labelled([*_times(found), ("from", _ring_from(found))]),
        section("why", found.why),
        section("advice", found.advice),
        section("assumptions", found.assumptions),
    )


def to_svg(found: AllReduce) -> str:
    """Times over the size, with this message and the sizes from which a ring is faster."""
    hops = Hops(
        latency_s=found.latency_s,
        bandwidth=found.bandwidth,
        network_latency_s=found.network_latency_s,
        network_bandwidth=found.network_bandwidth,
    )
    sizes = _range(found)
    rows = [times(size, found.ranks, found.nodes, hops) for size in sizes]
    curves = [Curve(_name(name), sizes, [row[name] for row in rows]) for name in found.times]
    marked = {
        "from here on a ring beats a tree": found.crossover_bytes,
        "and a pipelined tree": found.crossover_pipelined_bytes,
    }
    marks = [
        Mark(name, size, times(size, found.ranks, found.nodes, hops)["ring"]) for name, size in marked.items() if size
    ]
    here = Mark("this message", found.bytes, found.times[found.fastest])
    chart = Chart(
        title=f"All-reduce of {found.ranks} ranks",
        x=Axis("bytes of a rank", lambda value: format_quantity(value, "B"), log=True),
        y=Axis("time", format_time, log=True),
        curves=curves,
        marks=[*marks, here],
        words=found.why,
    )
    return draw(chart)


def _range(found: AllReduce) -> list[float]:
    marked = [size for size in (found.bytes, found.crossover_bytes, found.crossover_pipelined_bytes) if size > 0]
    low, high = min(marked) / 10.0**_DECADES, max(marked) * 10.0**_DECADES
    decades = 0
    while low * 10.0**decades < high:
        decades += 1
    return [low * 10 ** (at / _POINTS_PER_DECADE) for at in range(decades * _POINTS_PER_DECADE + 1)]


def _times(found: AllReduce) -> Iterator[tuple[str, str]]:
    for name in sorted(found.times, key=found.times.__getitem__):
        steps = {"ring": found.ring_steps, "tree": found.tree_steps}.get(name)
        yield _name(name), format_time(found.times[name]) + ("" if steps is None else f", {steps} steps")
    if found.predicted_s is not None:
        yield "predicted", f"{format_time(found.predicted_s)} on {found.link}"
    for one in found.protocols[:3]:
        yield f"{one.algorithm}, {one.protocol}", f"{format_time(one.time_s)} by NCCL's own model"


def _ring_from(found: AllReduce) -> str:
    if not found.crossover_pipelined_bytes:
        return "any size on is a ring no slower than a tree"
    tree, pipelined = (format_quantity(v, "B") for v in (found.crossover_bytes, found.crossover_pipelined_bytes))
    return f"{tree} on is a ring faster than a tree, from {pipelined} on than a pipelined tree"


def _name(algorithm: str) -> str:
    return algorithm.replace("_", " ")
