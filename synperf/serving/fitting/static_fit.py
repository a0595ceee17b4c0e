"""Factors of static batches: of all GPUs together, beside a factor of each GPU that few batches pull little.

What boards without records sustain is fitted with them, as the pair of a small grid of least error: times are linear in
everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ... import hardware, models
from ...hardware import GPU
from ...hardware.power import Power, is_measured, power
from ...measurements.static_batches import StaticRun
from ...models import Plan
from ..answer import DECODE, PREFILL
from ..factors import FIRST_TOKEN, ITERATION, NAMES, Factors
from ..in_step import in_step
from ..static import Static, static
from ..static_load import Listed
from .solve import Features, Prior, Target, fit

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
EFFICIENCIES = (0.9, 0.95, 1.0)
FLOP_PER_S_PER_W = (0.33e12, 0.36e12, 0.40e12, 0.44e12)
_FEW = 4  # batches of a GPU that pull its factors half of the way from 1
_MESSAGES = ITERATION.index("collectives")
_FIRST = 3  # factors that only the time to a first token has
_NONE = 1e-9  # how far those factors are from 0
_PRIOR = Factors(decode_host_s=1.5e-3, prefill_host_s=3e-3)
_SCALES = (0.5, 0.5, 0.5, 0.5, 0.5, 2e-3, 5e-6, 5e-3, 5e-6, 2e-7, _NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Measured batches, a row each: what factors multiply in the prefill and in the mean decode step, and the times.

    `floors` are of both.
    """

    gpus: npt.NDArray[np.str_]
    prefill: Floats
    step: Floats
    floors: Floats
    prefill_s: Floats
    step_s: Floats

    def take(self, which: Bools) -> Batches:
        """Some of them."""
        return Batches(*(getattr(self, one.name)[which] for one in fields(self)))

    def __len__(self) -> int:
        return len(self.gpus)


class StaticFit(NamedTuple):
    """What boards sustain, factors of all GPUs in the order of `NAMES`, and (prefill, decode) of each GPU."""

    limits: Power
    values: Floats
    gpus: Mapping[str, tuple[float, float]]

    @property
    def factors(self) -> Factors:
        """Those of all GPUs."""
        return Factors(**dict(zip(NAMES, self.values.tolist(), strict=True)))

    def times(self, batches: Batches) -> tuple[Floats, Floats]:
        """Seconds of prefills and of decode steps; no time is below its floor."""
        own = np.array([self.gpus.get(str(key), (1.0, 1.0)) for key in batches.gpus])
        found = [_times(one, self.values, own[:, at]) for at, one in enumerate((batches.prefill, batches.step))]
        prefill_s, step_s = np.maximum(found, batches.floors.T)
        return prefill_s, step_s


def _times(columns: Floats, values: Floats, own: Floats | float) -> Floats:
    """Times of iterations with factors, and with one of the GPU on all but messages."""
    each = columns * values[: len(ITERATION)]
    total: Floats = own * (each.sum(axis=1) - each[:, _MESSAGES]) + each[:, _MESSAGES]
    return total


def grid() -> list[Power]:
    """What boards may sustain."""
    known = power()
    return [
        replace(known, efficiency=efficiency, flop_per_s_per_w=dict.fromkeys(known.flop_per_s_per_w, per_w))
        for efficiency, per_w in product(EFFICIENCIES, FLOP_PER_S_PER_W)
    ]


def estimated(run: StaticRun, limits: Power) -> Static:
    """A measured batch as predicted, without factors."""
    return static(
        models.model(run.model), Plan(tp=run.tp, pp=run.pp, engine=run.engine), hardware.gpu(run.gpu),
        Listed(isl=run.isl, osl=run.osl), kernels=run.kernels,
        estimate=lambda call, gpu: in_step(call, gpu, limits=limits),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Priced:
    """Batches whose prefills and steps were measured, with all that boards may sustain."""

    runs: Sequence[StaticRun]

    @cached_property
    def batches(self) -> list[tuple[Power, Batches]]:
        """The batches at every point of the grid."""
        limits = grid()
        rows = [self._rows(run, limits) for run in self.runs]
        return [(one, self._columns([row[at] for row in rows])) for at, one in enumerate(limits)]

    def _rows(self, run: StaticRun, limits: Sequence[Power]) -> list[Static]:
        """One batch at every point, which is the same on GPUs that were measured."""
        if is_measured(hardware.gpu(run.gpu)):
            return [estimated(run, limits[0])] * len(limits)
        return [estimated(run, one) for one in limits]

    def _columns(self, found: Sequence[Static]) -> Batches:
        return Batches(
            gpus=np.array([hardware.gpu(run.gpu).key for run in self.runs]),
            prefill=np.array([one.columns(PREFILL) for one in found]),
            step=np.array([one.columns(DECODE) for one in found]) / np.array([[one.steps] for one in found]),
            floors=np.array([(one.prefill_floor_s, one.decode_floor_s / one.steps) for one in found]),
            prefill_s=np.array([run.measured.prefill_s for run in self.runs]),
            step_s=np.array([run.measured.step_s for run in self.runs]),
        )

    def fitted(self, which: Bools) -> StaticFit:
        """The fit to some of the batches."""
        fits = [(limits, batches.take(which)) for limits, batches in self.batches]
        found = [(limits, batches, _values(batches)) for limits, batches in fits]
        limits, batches, values = min(found, key=lambda one: _error(StaticFit(one[0], one[2], {}), one[1]))
        return StaticFit(limits, values, _of_gpus(batches, values))

    def at(self, limits: Power) -> Batches:
        """The batches at a point of the grid."""
        return next(batches for one, batches in self.batches if one == limits)


def _values(batches: Batches) -> Floats:
    empty = np.zeros((len(batches), len(FIRST_TOKEN)))
    features = Features(tpot=batches.step, ttft=np.hstack([batches.prefill, empty]))
    prior = Prior(center=np.array([getattr(_PRIOR, name) for name in NAMES]), scale=np.array(_SCALES))
    values, _ = fit(features, Target(ttft_s=batches.prefill_s, tpot_s=batches.step_s), prior, flushes=(0.0,))
    return values


def _error(one: StaticFit, batches: Batches) -> float:
    """The mean absolute relative error of both times."""
    prefill_s, step_s = one.times(batches)
    errors = np.abs(prefill_s / batches.prefill_s - 1) + np.abs(step_s / batches.step_s - 1)
    return float(errors.mean())


def _of_gpus(batches: Batches, values: Floats) -> dict[str, tuple[float, float]]:
    """(prefill, decode) factors of every GPU on all but messages, between 1 and what its batches have in the mean."""
    pairs = ((batches.prefill, batches.prefill_s), (batches.step, batches.step_s))
    logs = np.array([_log_factor(columns, values, measured_s) for columns, measured_s in pairs])
    found = {}
    for key in dict.fromkeys(batches.gpus.tolist()):
        own = logs[:, batches.gpus == key]
        prefill, decode = np.exp(own.sum(axis=1) / (own.shape[1] + _FEW))
        found[key] = (float(prefill), float(decode))
    return found


def _log_factor(columns: Floats, values: Floats, measured_s: Floats) -> Floats:
    """Logarithm of what is left of measured times without messages, over predicted ones."""
    messages = columns[:, _MESSAGES] * values[_MESSAGES]
    rest: Floats = _times(columns, values, 1.0) - messages
    found: Floats = np.log(np.maximum(measured_s - messages, 0.5 * rest) / rest)
    return found


def key_of(run: StaticRun) -> str:
    """The GPU of a batch."""
    device: GPU = hardware.gpu(run.gpu)
    return device.key
