"""What a measured time of a call came to, against what the GPU could do: rates of useful work, and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from .errors import FieldError
from .explanation import Explanation
from .units import format_time

LEAST_S = 1e-12  # a thousandth of a clock cycle
MOST_S = 1e9  # thirty years


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """Useful FLOP and compulsory bytes over a measured time, and both as shares of the published rates.

    `bound` is the side of the roofline that the call is on: `math` where its intensity is above the ridge, else
    `dram`. Only the share of that side can be near 1, whatever the other one is.
    """

    took_s: float
    flop_per_s: float
    bytes_per_s: float
    math_share: float
    dram_share: float
    bound: str
    over_estimate: float
    over_floor: float


def achieved(x: Explanation, took_s: float) -> Achieved:
    """The rates of one explained call that took so long.

    Raises:
        FieldError: the time is not one that a kernel can take.
    """
    if not isfinite(took_s) or took_s <= 0:
        raise FieldError(f"took: must be a positive time, got {took_s}")
    if not LEAST_S <= took_s <= MOST_S:
        within = f"{format_time(LEAST_S)} to {format_time(MOST_S)}"
        raise FieldError(f"took: must be a time of a kernel, {within}, got {format_time(took_s)}")
    f, gpu = x.features, x.gpu
    flop_per_s, bytes_per_s = f.flop / took_s, f.compulsory_bytes / took_s
    return Achieved(
        took_s=took_s,
        flop_per_s=flop_per_s,
        bytes_per_s=bytes_per_s,
        math_share=flop_per_s / gpu.peak_flop_per_s(x.math),
        dram_share=bytes_per_s / gpu.dram_bytes_per_s,
        bound="math" if f.intensity_over_ridge > 1 else "dram",
        over_estimate=took_s / x.estimate.time_s,
        over_floor=took_s / x.estimate.floor_s,
    )
