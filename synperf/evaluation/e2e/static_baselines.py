"""What others predict of measured static batches: their source's published methods, a roofline, a line, wave scaling.

The roofline is a pass's products at the published rate, or what it must read of DRAM, whichever takes longer. The line
is least squares of relative errors over both and a constant, fitted without what is left out. Wave scaling takes the
same load of the same model on the GPU that is nearest, by the ratio of the rate that limits the pass (Habitat, USENIX
ATC 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import hardware, models
from ...hardware import DType
from ...measurements.static_batches import METHODS, StaticRun
from ...models import Batch, Plan, decode, pass_bytes, pass_flop, prefill
from ...serving.fitting.static_fit import key_of

Floats = npt.NDArray[np.float64]
ROOFLINE, LINE, WAVES = "roofline", "linear", "wave scaling"
BASELINES = (*METHODS, ROOFLINE, LINE, WAVES)


@dataclass(frozen=True, kw_only=True, eq=False)
class Others:
    """Batches, and of their prefills and of their middle decode steps the times that math and DRAM take at least."""

    runs: Sequence[StaticRun]
    measured: Floats  # rows of prefill, decode step and all
    bounds: Floats  # (rows, phases, [math, DRAM])

    @classmethod
    def of(cls, runs: Sequence[StaticRun], measured: Floats) -> Others:
        """The batches with their bounds."""
        return cls(runs=runs, measured=measured, bounds=np.array([_bounds(run) for run in runs]))

    def predicted(self, name: str, of_gpu: bool) -> Floats:
        """Rows of prefill, decode step and all; nan where there is no answer. `of_gpu`: fits see nothing of its GPU."""
        if name in METHODS:
            return np.array([_published(run, name) for run in self.runs])
        phases = {ROOFLINE: self._roofline, LINE: self._line, WAVES: self._waves}[name](of_gpu)
        steps = np.array([run.steps for run in self.runs])
        return np.column_stack([phases, phases[:, 0] + steps * phases[:, 1]])

    def _roofline(self, _: bool) -> Floats:
        found: Floats = self.bounds.max(axis=2)
        return found

    def _line(self, of_gpu: bool) -> Floats:
        found = self._roofline(of_gpu)
        for at, run in enumerate(self.runs):
            seen = np.array([not _is_left_out(other, run, of_gpu) for other in self.runs])
            for phase in range(2):
                columns = np.column_stack([self.bounds[:, phase], np.ones(len(self.runs))])
                truth = self.measured[seen, phase]
                weights = np.linalg.lstsq(columns[seen] / truth[:, None], np.ones(len(truth)), rcond=None)[0]
                found[at, phase] = max(found[at, phase], columns[at] @ weights)
        return found

    def _waves(self, _: bool) -> Floats:
        return np.array([self._scaled(at) for at in range(len(self.runs))])

    def _scaled(self, at: int) -> Floats:
        """Times of the nearest GPU with the same load, times the ratio of the bounds."""
        same = [other for other in range(len(self.runs)) if _is_same_load(self.runs[other], self.runs[at])]
        if not same:
            return np.full(2, np.nan)
        bound = self.bounds.max(axis=2)
        origin = min(same, key=lambda other: float(np.abs(np.log(bound[other] / bound[at])).sum()))
        found: Floats = self.measured[origin, :2] * bound[at] / bound[origin]
        return found


def _is_left_out(other: StaticRun, run: StaticRun, of_gpu: bool) -> bool:
    return key_of(other) == key_of(run) if of_gpu else other is run


def _is_same_load(other: StaticRun, run: StaticRun) -> bool:
    own = (run.model, run.workload, run.tp, run.pp, run.engine)
    return key_of(other) != key_of(run) and (other.model, other.workload, other.tp, other.pp, other.engine) == own


def _published(run: StaticRun, method: str) -> tuple[float, ...]:
    found = run.published.get(method)
    if found is None or found.prefill_s is None or found.step_s is None:
        return (np.nan, np.nan, np.nan)
    return found.prefill_s, found.step_s, found.total_s


def _bounds(run: StaticRun) -> list[list[float]]:
    middle = 1 + run.steps // 2
    return [_bound(run, prefill(run.isl)), _bound(run, decode([isl + middle for isl in run.isl]))]


def _bound(run: StaticRun, batch: Batch) -> list[float]:
    """Seconds of math and of DRAM, at published rates, of one rank."""
    model, gpu = models.model(run.model), hardware.gpu(run.gpu)
    plan = Plan(tp=run.tp, pp=run.pp, engine=run.engine)
    math_s = pass_flop(model, batch) / plan.gpus / gpu.peak_flop_per_s(DType.BF16)
    return [float(math_s), float(pass_bytes(model, plan, batch) / gpu.dram_bytes_per_s)]
