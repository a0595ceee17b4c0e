"""How fast calculators answer a million questions from arrays, beside one question at a time on the same machine.

python benchmarks/calculators.py [--json]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from predict import seconds

from synperf.calculators.coalescing import coalescing_of_strides
from synperf.calculators.lanes.conflicts import degree_of_stride
from synperf.hardware.capability import capability
from synperf.scheduling.occupancy import occupancies, resident

MILLION, SOME = 1_000_000, 10_000
BUDGET_S = 1.0
REPEATS = 5


@dataclass(frozen=True)
class Entry:
    """A calculator: columns of questions, what answers all of them, and what answers one."""

    columns: Callable[[int], tuple[np.ndarray, ...]]
    many: Callable[..., Any]
    one: Callable[..., Any]


def launches(count: int) -> tuple[np.ndarray, ...]:
    """Threads, registers and shared memory of CTAs, all that can be asked for."""
    rng = np.random.default_rng(0)
    return rng.integers(1, 1025, count), rng.integers(0, 256, count), rng.integers(0, 166_912, count)


def strides(count: int) -> tuple[np.ndarray, ...]:
    """Strides in elements, and the offsets at which patterns begin."""
    rng = np.random.default_rng(0)
    return rng.integers(-64, 65, count), rng.integers(2048, 4096, count)


def _efficiency(stride: Any, offset: Any) -> Any:
    return coalescing_of_strides(4, stride, offset).efficiency


def _degree(stride: Any, offset: Any) -> Any:  # noqa: ARG001
    return degree_of_stride(stride)


_SM = capability("8.0")
ENTRIES = {
    "occupancy": Entry(launches, lambda *columns: occupancies(_SM, *columns), lambda *one: resident(_SM, *one)),
    "coalescing": Entry(strides, _efficiency, _efficiency),
    "banks": Entry(strides, _degree, _degree),
}


def measured(entry: Entry) -> dict[str, float]:
    """Seconds of a million from arrays, of one at a time, and how many of these a million from arrays is."""
    columns = entry.columns(MILLION)
    few = list(zip(*(column.tolist() for column in entry.columns(SOME)), strict=True))
    million = seconds(lambda: entry.many(*columns), REPEATS)
    one = seconds(lambda: [entry.one(*values) for values in few], REPEATS) / SOME
    return {"million_s": million, "one_s": one, "ratio": one * MILLION / million}


def main() -> None:
    """Measure and print."""
    figures = {name: measured(entry) for name, entry in ENTRIES.items()}
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, one in figures.items():
        print(
            f"{name:12} a million from arrays {one['million_s']:6.3f} s   budget {BUDGET_S:g} s; "
            f"{one['one_s'] * 1e6:5.1f} us one at a time, {one['ratio']:.0f} x as long"
        )


if __name__ == "__main__":
    main()
