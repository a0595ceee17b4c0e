"""Simpler ways to predict serving points, fitted to the same ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...api import predict
from ...estimators import Estimate
from ...estimators.analytical import ORIGIN
from ...hardware import GPU, gpu
from ...models import decode, kv_bytes_per_token_per_gpu, model, weights_bytes
from ...models.floor import pass_flop
from ...serving.fitting.served import Served
from ...serving.fitting.simulated import plan_of
from ...serving.fitting.solve import Floats

_RIDGE = 1e-6
_OTHER = 4.0  # octaves that another engine or format counts as


def roofline(call: Any, device: GPU) -> Estimate:
    """The slower of math and DRAM at published rates, perfectly overlapped; of a message that on its links."""
    found: Estimate = predict(call, device, origin=ORIGIN)
    return replace(found, time_s=found.floor_s)


def linear(fit: Served, test: Served) -> tuple[Floats, Floats]:
    """Logarithms of both times by least squares on those of loads, ranks and bounds of a token, and on the engine."""
    engines = sorted(set(fit.points.engine.tolist()))
    known, asked = _columns(fit, engines), _columns(test, engines)
    normal = known.T @ known + _RIDGE * np.eye(known.shape[1])
    target = fit.target
    ttft, tpot = (
        np.exp(asked @ np.linalg.solve(normal, known.T @ np.log(times))) for times in (target.ttft_s, target.tpot_s)
    )
    return ttft, tpot


def _columns(served: Served, engines: list[str]) -> Floats:
    points = served.points
    bounds = np.zeros((len(points), 3))
    for setup, rows in points.setups():
        which, plan, device = model(setup.model), plan_of(setup), gpu(setup.gpu)
        flop_s = float(pass_flop(which, decode([1]))) / device.peak_flop_per_s(which.dtype)
        read = (weights_bytes(which, plan), kv_bytes_per_token_per_gpu(which, plan))
        bounds[rows] = np.log([*(size / device.dram_bytes_per_s for size in read), flop_s])
    one = np.array([[float(name == engine) for engine in engines] for name in points.engine.tolist()])
    return np.hstack([served.labels.loads, bounds, one])


def scaled(fit: Served, test: Served) -> tuple[Floats, Floats]:
    """The nearest point of the family on another GPU, scaled by what limits it: wave scaling for whole iterations.

    Time between tokens goes as bandwidth, time to the first token as math; nan where no point of the family is known.
    Source: Yu et al., "Habitat", USENIX ATC 2021, section 3.3, with all of an iteration limited by memory or by math.
    """
    ttft, tpot = np.full(len(test), np.nan), np.full(len(test), np.nan)
    known = fit.labels.groups(("family",))
    for key, rows in test.labels.groups(("family",)).items():
        near = known.get(key)
        if near is None:
            continue
        for row in rows.tolist():
            at = int(near[_distance(fit, near, test, row).argmin()])
            here, there = (gpu(str(one.points.gpu[i])) for one, i in ((test, row), (fit, at)))
            tpot[row] = fit.points.tpot_s[at] * there.dram_bytes_per_s / here.dram_bytes_per_s
            dtype = model(str(test.points.model[row])).dtype
            ttft[row] = fit.points.ttft_s[at] * there.peak_flop_per_s(dtype) / here.peak_flop_per_s(dtype)
    return ttft, tpot


def _distance(fit: Served, near: np.ndarray, test: Served, row: int) -> Floats:
    """Octaves between loads, and as many for another engine or format."""
    apart = np.abs(fit.labels.loads[near] - test.labels.loads[row]).sum(axis=1)
    for name in ("engine", "format"):
        apart = apart + _OTHER * (getattr(fit.labels, name)[near] != getattr(test.labels, name)[row])
    found: Floats = apart.astype(float)
    return found
