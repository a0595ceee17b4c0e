"""Operators under the roofs of a GPU, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...calculators.roofline import Roofline
from ...calculators.roofs.point import Level, Point, name_of
from ...units import format_quantity, format_time
from ..charts.lines import Axis, Chart, Curve, Mark, draw
from ..text import paragraphs, sentences, table

_HEADS = ("operator", "math", "FLOP/byte", "ridge", "bound", "at most", "math takes", "DRAM", "L2", "shared", "launch",
          "limited by")  # fmt: skip
_RIGHT = _HEADS[2:4] + _HEADS[5:11]
_NAMES = {"dram": "DRAM", "l2": "L2", "shared": "shared memory"}
_BESIDE = 30.0  # how far roofs are drawn beyond the points
_LEAST = 1e-3  # FLOP per byte, where an operator has none: a logarithm has no 0


def to_dict(found: Roofline) -> dict[str, Any]:
    """The fields of the first point, and all points."""
    first = asdict(found.points[0])
    points = [asdict(one) for one in found.points]
    return {"gpu": found.gpu.key, **first, "points": points, "why": found.why, "advice": found.advice}


def to_text(found: Roofline) -> str:
    """A line for each operator, and why."""
    points, many = found.points, len(found.points) > 1
    at_most = format_quantity(points[0].attainable_flop_per_s, "FLOP/s")
    head = (f"{len(points)} operators on {found.gpu.name}" if many
            else f"{points[0].name} on {found.gpu.name}: {points[0].bound}-bound, at least "
                 f"{format_time(points[0].time_s)}, "
                 f"at most {at_most}")  # fmt: skip
    return paragraphs(
        head.replace("balanced-bound", "balanced"),
        table(_HEADS, map(_row, points), right=_RIGHT),
        table(("ridge, FLOP/byte", *_NAMES.values()), _ridges(found), right=tuple(_NAMES.values())),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _row(p: Point) -> list[str]:
    return [
        p.name, p.dtype, f"{p.intensity_flop_per_byte:.4g}", f"{p.ridge_flop_per_byte:.4g}", p.bound,
        format_quantity(p.attainable_flop_per_s, "FLOP/s"), format_time(p.compute_s),
        *(_time(level.time_s) for level in p.levels.values()), _time(p.launch_s), p.limiter,
    ]  # fmt: skip


def _time(time_s: float | None) -> str:
    return "" if time_s is None else format_time(time_s)


def _ridges(found: Roofline) -> Iterator[list[str]]:
    """A row for each format."""
    for dtype, point in {one.dtype: one for one in found.points}.items():
        yield [dtype, *(f"{level.ridge_flop_per_byte:.4g}" for level in point.levels.values())]


def to_svg(found: Roofline) -> str:
    """Roofs of every format and memory, and the operators below them."""
    across = [max(_LEAST, one.intensity_flop_per_byte) for one in found.points]
    ridges = [level.ridge_flop_per_byte for one in found.points for level in one.levels.values()]
    low, high = min(*across, *ridges) / _BESIDE, max(*across, *ridges) * _BESIDE
    formats = {one.dtype: one for one in found.points}
    curves = [curve for one in formats.values() for curve in _roofs(one, low, high)]
    return draw(
        Chart(
            title=f"Roofs of {found.gpu.name}",
            x=Axis("FLOP per byte", lambda value: f"{value:g}", log=True),
            y=Axis("FLOP/s", format_quantity, log=True),
            curves=curves,
            marks=[mark for at, x in enumerate(across) for mark in _marks(found.points, at, x)],
            words=(*found.why, *found.advice),
        )
    )


def _roofs(one: Point, low: float, high: float) -> Iterator[Curve]:
    for name, level in one.levels.items():
        x = (low, level.ridge_flop_per_byte, high)
        yield Curve(f"{one.dtype}, {_NAMES[name]}", x, [_roof(one, level, value) for value in x])


def _roof(one: Point, level: Level, intensity: float) -> float:
    return min(one.peak_flop_per_s, intensity * level.bytes_per_s)


def _marks(points: Sequence[Point], at: int, x: float) -> Iterator[Mark]:
    """The roof at the intensity of an operator, and what was measured of it."""
    one, name = points[at], name_of(points, at)
    yield Mark(name, x, _roof(one, one.levels["dram"], x))
    if one.achieved is not None:
        yield Mark(f"{name}, measured", x, one.achieved.flop_per_s)
