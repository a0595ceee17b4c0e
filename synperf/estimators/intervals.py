"""Central 80 % around an analytical estimate: how measured times spread around its two parts.

The launch and the work each have ratios measured / estimated at 10 % and 90 %, of the calls in which that part is
the longer one. Bounds made of both parts grow when either does, so they keep the laws of the time. The ratios are in
`analytical.toml`, with how they were fitted.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ..numeric import Number, maximum

PARTS = ("launch", "work")


def interval(launch_s: float, work_s: Number, time_s: Number, floor_s: Number) -> tuple[Number, Number]:
    """(low_s, high_s) of a time that is launch + work; it holds the time itself and nothing below the floor."""
    (launch_low, launch_high), (work_low, work_high) = _ratios()
    low_s = maximum(launch_s * launch_low + work_s * work_low, floor_s)
    return low_s, maximum(launch_s * launch_high + work_s * work_high, time_s)


@cache
def _ratios() -> tuple[tuple[float, float], ...]:
    text = (Path(__file__).parent / "analytical.toml").read_text(encoding="utf-8")
    rows = [tomllib.loads(text)["ratios"][part] for part in PARTS]
    return tuple((min(row["p10"], 1.0), max(row["p90"], 1.0)) for row in rows)
