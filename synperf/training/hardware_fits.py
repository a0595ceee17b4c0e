"""Constants of one GPU from training rows: launch floors, and sustained rates as shares of the published ones.

* launch floor of a kernel and format: the median of measured time - slowest pipe over the launches whose slowest
  pipe takes under 0.3 us: a value that half of the next-to-empty launches stay under.
  Of families whose shortest calls take longer: the same over the twentieth of the calls that has least work.
* clock share: P95 of achieved FLOP rate / published peak over bf16 shapes with m, n, k >= 4096 whose intensity is
  at least four times the ridge. Narrower formats are left out: what they lose is not clock but quantisation.
* DRAM share: P95 of compulsory bytes / (time - launch floor) / published bandwidth over bf16 shapes whose
  intensity is at most a quarter of the ridge and whose bytes fill L2 at least four times, so that no replay finds
  them there.
* L2 share: not fitted. What fits in L2 takes a few microseconds beside the launch floor, which is not known well
  enough to leave a rate: P95 of one GPU comes out anywhere from 0.1 to 2.8 of the published one, by kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from ..estimators.analytical import slowest
from ..features import features
from ..hardware import GPU, DType
from ..hardware.launch import floor_key
from ..kernels import family
from ..measurements import Rows
from ..numeric import concatenated

LITTLE_WORK_S = 0.3e-6
LEAST_WORK = 0.05
LEAST_FLOOR_S = 1e-6
EXTENTS = ("m", "n", "k")  # of the family that tells the rates
LEAST_ROWS = 20  # fewer say nothing about a quantile
LARGE_EXTENT = 4096
FAR_FROM_RIDGE = 4.0
TIMES_L2 = 4.0
NO_L2_SHARE = "not fitted: reads that L2 serves last too short beside the launch floor to show a rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted constant, the rows that it rests on, and how they spread."""

    value: float
    rows: int
    spread: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Training rows of one kernel and format, as columns."""

    measured_s: np.ndarray
    slowest_s: np.ndarray
    flop: np.ndarray
    compulsory_bytes: np.ndarray
    least_extent: np.ndarray

    def take(self, rows: np.ndarray) -> Sample:
        """Some rows: a mask."""
        return Sample(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def samples(rows: Rows, gpu: GPU) -> dict[str, Sample]:
    """Training rows by kernel and format, as records call them; all engines together."""
    found: dict[str, list[Sample]] = {}
    for _, part in rows.take(~rows.is_test).groups(*rows.labels()):
        key = floor_key(part.family[0], part.kernel[0], part.fields["dtype"][0])
        found.setdefault(key, []).append(_sample(part, gpu))
    return {key: _join(parts) for key, parts in found.items()}


def _sample(rows: Rows, gpu: GPU) -> Sample:
    f = features(family(rows.family[0]), rows.call(), gpu)
    return Sample(
        measured_s=rows.time_s,
        slowest_s=slowest(f, 0.0)[1],
        flop=f.flop,
        compulsory_bytes=f.compulsory_bytes,
        least_extent=np.minimum.reduce([rows.fields.get(name, np.zeros(len(rows))) for name in EXTENTS]),
    )


def _join(parts: list[Sample]) -> Sample:
    return Sample(**concatenated(parts))


def launch_floor(sample: Sample, little_s: float = LITTLE_WORK_S) -> Fit | None:
    """Time of a launch with next to no work, or None where too few rows have so little."""
    rest = (sample.measured_s - sample.slowest_s)[sample.slowest_s < little_s]
    if len(rest) < LEAST_ROWS:
        return None
    low, middle, high = np.quantile(rest, (0.1, 0.5, 0.9)) * 1e6
    return Fit(value=round(float(middle) * 1e-6, 9), rows=len(rest), spread=f"p10 {low:.2f} us, p90 {high:.2f} us")


def clock_share(sample: Sample, gpu: GPU) -> Fit | None:
    """Sustained tensor rate as a share of the published one, from bf16 rows; None where too few are large enough."""
    intensity = sample.flop / sample.compulsory_bytes / gpu.ridge_flop_per_byte(DType.BF16)
    large = sample.take((sample.least_extent >= LARGE_EXTENT) & (intensity >= FAR_FROM_RIDGE))
    return _p95(large.flop / large.measured_s / gpu.peak_flop_per_s(DType.BF16))


def dram_share(sample: Sample, gpu: GPU, launch_s: float) -> Fit | None:
    """Sustained DRAM bandwidth as a share of the published one, from bf16 rows; None where too few stream enough."""
    intensity = sample.flop / sample.compulsory_bytes / gpu.ridge_flop_per_byte(DType.BF16)
    streams = sample.compulsory_bytes >= TIMES_L2 * gpu.l2_bytes
    cold = sample.take((intensity <= 1 / FAR_FROM_RIDGE) & streams & (sample.measured_s > launch_s))
    return _p95(cold.compulsory_bytes / (cold.measured_s - launch_s) / gpu.dram_bytes_per_s)


def _p95(share: np.ndarray) -> Fit | None:
    if len(share) < LEAST_ROWS:
        return None
    middle, value, high = np.quantile(share, (0.5, 0.95, 0.99))
    return Fit(value=round(float(value), 4), rows=len(share), spread=f"median {middle:.3f}, p99 {high:.3f}")


def launch_floors(found: Mapping[str, Sample]) -> dict[str, Fit]:
    """Launch floors by `kernel.dtype`, of those that have one."""
    fits = {key: launch_floor(sample) for key, sample in sorted(found.items())}
    return {key: fit for key, fit in fits.items() if fit is not None}


def launch_floors_of_least_work(found: Mapping[str, Sample]) -> dict[str, Fit]:
    """As `launch_floors`, of families whose shortest calls are longer: from the twentieth with least work.

    A floor is at least a microsecond: where even these calls are long, their own work hides it.
    """
    fits = {
        key: launch_floor(sample, max(float(np.quantile(sample.slowest_s, LEAST_WORK)), LITTLE_WORK_S))
        for key, sample in sorted(found.items())
    }
    return {key: replace(fit, value=max(fit.value, LEAST_FLOOR_S)) for key, fit in fits.items() if fit is not None}
