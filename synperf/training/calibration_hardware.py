"""Sustained rates and launch floors of a GPU from few rows of a user's own.

Rates are told by GEMMs alone: what L2 holds of K and V, or of few experts, is not seen in the rows of other families.
A share is the greatest that a row reached, or of 20 rows and more the 95th percentile: over eight large and eight
memory-bound shapes the greatest is within 3 to 6 % of what thousands of rows say. Which rows tell which constant is as
in `hardware_fits`. What no row can tell stays what it was; `Calibration.provenance` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np

from ..estimators.analytical import slowest
from ..features import features, working
from ..hardware import GPU, Calibration, DType
from ..hardware.launch import PLAIN, floor_key, launch_floor
from ..kernels import family
from ..measurements import Rows
from ..numeric import concatenated
from ..units import format_time
from .hardware_fits import EXTENTS, FAR_FROM_RIDGE, LARGE_EXTENT, LITTLE_WORK_S, NO_L2_SHARE, TIMES_L2

LEAST_SHARE_ROWS = 4  # fewer have seldom one that comes near the rate
LEAST_FLOOR_ROWS = 3  # of which the median is one that another confirms
LEAST_SHARE, MOST_SHARE = 0.2, 1.25  # of a published rate, that a GPU sustains
MANY_ROWS = 20  # from here on a quantile, which one odd row does not move
_RATES = (DType.BF16, DType.FP16)  # narrower formats lose to quantisation, which is not clock


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """Rows of one kernel and format, as columns."""

    time_s: np.ndarray
    slowest_s: np.ndarray
    work_s: np.ndarray  # as `slowest_s`, without what the shortest launch waits too
    launch_s: np.ndarray
    math_s: np.ndarray  # at published rates
    dram_s: np.ndarray
    bytes_over_l2: np.ndarray
    least_extent: np.ndarray

    def take(self, rows: np.ndarray) -> _Sample:
        """Some rows: a mask."""
        return _Sample(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def fit_hardware(rows: Rows, gpu: GPU) -> Calibration:
    """The GPU's calibration with what the rows tell in the place of what was there."""
    floors, said = _floors(rows, gpu)
    own = replace(gpu.calibration, launch_floor_s=MappingProxyType({**gpu.calibration.launch_floor_s, **floors}))
    at = replace(gpu, calibration=own)
    told = [part for part in _parts(rows) if part.family[0] == PLAIN and part.fields["dtype"][0] in _RATES]
    parts = [_sample(part, at) for part in told]
    found: dict[str, float] = {}
    for name, part in _telling(parts):
        said[name] = f"needs {LEAST_SHARE_ROWS} rows that tell it, has {len(part.time_s)}"
        if len(part.time_s) >= LEAST_SHARE_ROWS:
            value, how = _reached(part, name)
            most = gpu.max_clock_hz / gpu.clock_hz if name == "clock_share" else 1.0
            found[name] = round(min(value, most), 4)
            said[name] = f"{how} of {len(part.time_s)} rows"
    said["l2_share"] = NO_L2_SHARE
    return replace(
        own,
        provenance=MappingProxyType(said),
        clock_share=found.get("clock_share", own.clock_share),
        dram_share=found.get("dram_share", own.dram_share),
    )


def impossible(gpu: GPU) -> dict[str, float]:
    """The shares of published rates that no GPU sustains, by name."""
    shares = {name: getattr(gpu.calibration, name) for name in ("clock_share", "dram_share")}
    return {k: share for k, share in shares.items() if share is not None and not LEAST_SHARE <= share <= MOST_SHARE}


def _floors(rows: Rows, gpu: GPU) -> tuple[dict[str, float], dict[str, str]]:
    """Launch floors by `kernel.dtype` that the rows tell, and what is said of each that occurs."""
    rest: dict[str, list[np.ndarray]] = {}
    for part in _parts(rows):
        sample, kernel, dtype = _sample(part, gpu), part.kernel[0], part.fields["dtype"][0]
        little = sample.take(sample.work_s < LITTLE_WORK_S)
        rest.setdefault(floor_key(rows.family[0], kernel, dtype), []).append(little.time_s - little.slowest_s)
    floors, said = {}, {}
    for key, values in rest.items():
        left = np.concatenate(values)
        few = f"next to no work (under {format_time(LITTLE_WORK_S)} of it)"
        said[key] = f"needs {LEAST_FLOOR_ROWS} rows with {few}, has {len(left)}"
        if len(left) >= LEAST_FLOOR_ROWS:
            floors[key] = round(max(float(np.median(left)), 1e-7), 9)
            said[key] = f"median of {len(left)} rows"
    return floors, said


def _telling(parts: list[_Sample]) -> Iterator[tuple[str, _Sample]]:
    """The rows that tell a share, with the name of it."""
    if not parts:
        return
    every = _Sample(**concatenated(parts))
    ratio = every.math_s / every.dram_s
    yield "clock_share", every.take((every.least_extent >= LARGE_EXTENT) & (ratio >= FAR_FROM_RIDGE))
    streams = (every.bytes_over_l2 >= TIMES_L2) & (every.time_s > every.launch_s)
    yield "dram_share", every.take((ratio <= 1 / FAR_FROM_RIDGE) & streams)


def _reached(part: _Sample, name: str) -> tuple[float, str]:
    """The share that the rows reach, and how it is taken from them."""
    share = part.math_s / part.time_s if name == "clock_share" else part.dram_s / (part.time_s - part.launch_s)
    if len(share) >= MANY_ROWS:
        return float(np.quantile(share, 0.95)), "95th percentile"
    return float(share.max()), "greatest"


def _parts(rows: Rows) -> Iterator[Rows]:
    return (part for _, part in rows.groups(*rows.labels()))


def _sample(rows: Rows, gpu: GPU) -> _Sample:
    call, kind = rows.call(), family(rows.family[0])
    f = features(kind, call, gpu)
    return _Sample(
        time_s=rows.time_s,
        slowest_s=slowest(f, 0.0)[1],
        work_s=slowest(working(f), 0.0)[1],
        launch_s=np.full(len(rows), launch_floor(gpu, kind.name, call.kernel, call.dtype, kind.launches_like)[0]),
        math_s=f.flop / gpu.peak_flop_per_s(kind.math(call)),
        dram_s=f.compulsory_bytes / gpu.dram_bytes_per_s,
        bytes_over_l2=f.compulsory_bytes / gpu.l2_bytes,
        least_extent=np.minimum.reduce([rows.fields.get(name, np.zeros(len(rows))) for name in EXTENTS]),
    )
