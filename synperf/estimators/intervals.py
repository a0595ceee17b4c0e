"""Central 80 % around an analytical estimate: how measured times spread around it, by what limits the call.

The ratios measured / estimated at 10 % and 90 % are in `analytical.toml`, with how they were fitted.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..features import PIPES
from ..numeric import Number

LIMITERS = ("launch", *PIPES)


def interval(limiter: int | np.ndarray, time_s: Number, floor_s: Number) -> tuple[Number, Number]:
    """(low_s, high_s) of a time, by the index of its limiter in `LIMITERS`.

    The interval holds the time itself and nothing below the floor.
    """
    low, high = _ratios()
    if isinstance(limiter, np.ndarray):
        return np.maximum(time_s * low[limiter], floor_s), time_s * high[limiter]
    return max(time_s * float(low[limiter]), floor_s), time_s * float(high[limiter])


@cache
def _ratios() -> tuple[np.ndarray, np.ndarray]:
    record: dict[str, Any] = tomllib.loads((Path(__file__).parent / "analytical.toml").read_text(encoding="utf-8"))
    rows = [record["ratios"].get(name, record["ratios"]["all"]) for name in LIMITERS]
    return np.array([min(row["p10"], 1.0) for row in rows]), np.array([max(row["p90"], 1.0) for row in rows])
