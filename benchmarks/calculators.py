"""How fast calculators answer many questions at once. Prints a million in arrays, one by one, and the ratio.

python benchmarks/calculators.py [--json]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from predict import seconds

from synperf.calculators.coalescing import coalescing_of_strides
from synperf.calculators.lanes.conflicts import degree_of_stride

MILLION = 1_000_000
BUDGET_S = 1.0  # for a million
ONE_BY_ONE, REPEATS = 1000, 3
Question = tuple[Callable[..., Any], tuple[np.ndarray, ...]]


def questions() -> dict[str, Question]:
    """A function of columns, and a million values for each."""
    draw = np.random.default_rng(0)
    strides, offsets = draw.integers(-64, 65, MILLION), draw.integers(2048, 4096, MILLION)
    return {
        "coalescing": (lambda stride, offset: coalescing_of_strides(4, stride, offset).efficiency, (strides, offsets)),
        "banks": (degree_of_stride, (strides,)),
    }


def measured(asked: Question) -> dict[str, float]:
    """Seconds of a million at once, and what they would take one at a time."""
    function, columns = asked
    rows = list(zip(*(column[:ONE_BY_ONE].tolist() for column in columns), strict=True))
    at_once = seconds(lambda: function(*columns), REPEATS)
    alone = seconds(lambda: [function(*row) for row in rows], REPEATS) / ONE_BY_ONE * MILLION
    return {"million_s": at_once, "one_by_one_s": alone, "ratio": alone / at_once}


def main() -> None:
    """Measure and print."""
    found = {name: measured(asked) for name, asked in questions().items()}
    if "--json" in sys.argv[1:]:
        print(json.dumps(found, indent=2))
        return
    for name, one in found.items():
        print(f"{name:12} a million in {one['million_s']:.3f} s (budget {BUDGET_S:g} s), "
              f"one by one {one['one_by_one_s']:.3g} s: {one['ratio']:.3g} times")  # fmt: skip


if __name__ == "__main__":
    main()
