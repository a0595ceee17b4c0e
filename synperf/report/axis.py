"""Numbers along an axis: a few that are 1, 2 or 5 times a power of ten apart."""

from __future__ import annotations

from math import floor, log10

from ..units import format_quantity


def ticks(most: float, count: int, least: float = 0.0) -> list[float]:
    """From 0 up to `most`, about `count` of them and never more, at least `least` apart."""
    apart = max(most / count, least)
    power = 10.0 ** floor(log10(apart))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= apart * (1 - 1e-9))
    return [step * i for i in range(floor(most / step * (1 + 1e-9)) + 1)]


def label(value: float) -> str:
    """A count: `64`, `1,500`, `2.5 M`."""
    return f"{value:,.6g}" if value < 1e6 else format_quantity(value)
