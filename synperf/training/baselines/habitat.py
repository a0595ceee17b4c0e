"""Wave scaling: the time that another GPU needs for the same kernel, scaled by bandwidth, SMs and clock.

Source: Yu, Gao, Golikov, Pekhimenko, "Habitat: A Runtime-Based Computational Performance Predictor for Deep Neural
Network Training", USENIX ATC 2021. For GEMM Habitat itself has a network, since libraries choose other kernels on
other GPUs; here wave scaling stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...api import family_of
from ...features import roofline
from ...hardware import GPU, DType
from ...measurements import Rows
from ...numeric import Number, where
from ..recipe import Devices, Predictor, Recipe, by_launch
from .per_kernel import Models, key_of, optional

NEIGHBOURS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What one GPU and engine measured of one kernel: shapes in a search tree, and time over roofline at each."""

    gpu: GPU
    engine: str
    dtype: DType
    shapes: Any  # scipy.spatial.KDTree
    log_slowdown: np.ndarray


def fit(rows: Rows, devices: Devices, _seed: int) -> Predictor:
    """Keeps the measured rows of every GPU and engine, by kernel and format.

    Raises:
        MissingExtraError: the extra [train] is not installed.
        FieldError: there are no training rows.
    """
    tree = optional("scipy.spatial", "wave scaling between measured shapes").KDTree
    origins: dict[tuple[str, str], list[Origin]] = {}
    for _, call, gpu, part in by_launch(rows, devices):
        slowdown = part.time_s / _roofline_s(call, gpu, call.dtype)
        found = Origin(
            gpu=gpu, engine=call.engine, dtype=call.dtype, shapes=tree(_shapes(part)), log_slowdown=np.log(slowdown)
        )
        origins.setdefault(key_of(call), []).append(found)
    sizes = {key: sum(len(one.log_slowdown) for one in of_key) for key, of_key in origins.items()}
    models = Models.of(origins, sizes)

    def predict(rows: Rows, devices: Devices) -> np.ndarray:
        found = np.empty(len(rows))
        for index, call, gpu, part in by_launch(rows, devices):
            origin = chosen(models[key_of(call)], gpu, call.engine)
            found[index] = origin_time_s(origin, call, part) * ratio(call, origin.gpu, gpu)
        return found

    return predict


def chosen(origins: Sequence[Origin], gpu: GPU, engine: str) -> Origin:
    """The other GPU that is nearest in what wave scaling scales by: bandwidth, SMs and clock; there the same engine.

    A GPU is its own origin only where no other was measured.
    """

    def order(one: Origin) -> tuple[Any, ...]:
        return one.gpu.key == gpu.key, _distance(one.gpu, gpu), one.engine != engine, one.gpu.key, one.engine

    return min(origins, key=order)


def ratio(call: Any, origin: GPU, gpu: GPU) -> Number:
    """Time on `gpu` over time on `origin`."""
    kind = family_of(call)
    intensity = kind.flop(call) / kind.compulsory_bytes(call)
    return scale(gamma(intensity / gpu.ridge_flop_per_byte(call.dtype)), origin, gpu)


def gamma(intensity_over_ridge: Number) -> Number:
    """How much bandwidth matters: from 1 without math over 1/2 at the ridge to 0 without traffic."""
    return where(intensity_over_ridge <= 1, 1 - 0.5 * intensity_over_ridge, 0.5 / intensity_over_ridge)


def scale(gamma: Number, origin: GPU, gpu: GPU) -> Number:
    """Ratio of bandwidths to the power gamma, times those of wave size and clock to the power 1 - gamma.

    Wave sizes are as numbers of SMs: a kernel has the same occupancy on both.
    """
    memory = origin.dram_bytes_per_s / gpu.dram_bytes_per_s
    compute = origin.clock_hz * origin.num_sms / (gpu.clock_hz * gpu.num_sms)
    return memory**gamma * compute ** (1 - gamma)


def origin_time_s(origin: Origin, call: Any, rows: Rows) -> np.ndarray:
    """Time at shapes that were not measured: roofline times the slowdown at the nearest measured shapes.

    Distances are in log2 of the extents, and the mean of the log is weighted by their inverse squares, so that a
    shape that was measured has its own time.
    """
    near = min(NEIGHBOURS, len(origin.log_slowdown))
    distance, index = origin.shapes.query(_shapes(rows), k=range(1, near + 1))
    weight = 1 / (distance**2 + 1e-12)  # no division by 0 at a measured shape
    log_slowdown = (weight * origin.log_slowdown[index]).sum(axis=1) / weight.sum(axis=1)
    seconds: np.ndarray = _roofline_s(call, origin.gpu, origin.dtype) * np.exp(log_slowdown)
    return seconds


def _roofline_s(call: Any, gpu: GPU, dtype: DType) -> Number:
    kind = family_of(call)
    return roofline(gpu, dtype, kind.flop(call), kind.compulsory_bytes(call))


def _shapes(rows: Rows) -> np.ndarray:
    """log2 of twice the extents, [rows, extents], so that none is 0.

    Above 0 the search tree steps to the next number, which is none to a process in which torch was told to flush
    denormals, as our network's training tells it: the tree then has no end and the process overflows its stack.
    """
    extents = [column.astype(np.float64) for column in rows.fields.values() if column.dtype != object]
    shapes: np.ndarray = np.log2(2 * np.stack(extents, axis=1))
    return shapes


def _distance(one: GPU, other: GPU) -> float:
    """How far two GPUs are apart in what wave scaling scales by."""
    ratios = [getattr(one, name) / getattr(other, name) for name in ("dram_bytes_per_s", "num_sms", "clock_hz")]
    return float(np.abs(np.log(ratios)).sum())


RECIPE = Recipe(name="habitat", summary="wave scaling from the most similar other GPU", fit=fit)
