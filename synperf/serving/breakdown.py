"""Where the time of a load's iterations goes: by part, for those with new tokens of prompts and those without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .answer import COLLECTIVES, DECODE, HOST, PREFILL, WAIT, Share
from .factors import ITERATION, Factors
from .iterations import Floats, Integers, Iterations
from .step_costs import StepCosts

_TIMED = 5  # of the columns of an iteration: seconds of kernels and messages; the others are counts, of the host's time
FITTED = "fitted"


def breakdown(costs: StepCosts, iterations: Iterations, factors: Factors) -> tuple[Share, ...]:
    """The parts that take time, the longest of a phase first."""
    columns = costs.columns(iterations) * factors.of_iterations()
    total = float(iterations.repeats @ columns.sum(axis=1))
    found = [*_parts(costs, iterations, columns, factors, total), *_host(columns, iterations, total)]
    return tuple(sorted((one for one in found if one.time_s), key=lambda one: (one.phase != PREFILL, -one.time_s)))


def _phases(iterations: Iterations) -> tuple[tuple[str, Integers], ...]:
    """How many iterations each run has in either phase."""
    chunked = iterations.chunks > 0
    return (PREFILL, iterations.repeats * chunked), (DECODE, iterations.repeats * ~chunked)


def _parts(
    costs: StepCosts, iterations: Iterations, columns: Floats, factors: Factors, total: float
) -> Iterator[Share]:
    parts = costs.parts(iterations)
    timed = columns[:, :_TIMED].sum(axis=1)
    for phase, counts in _phases(iterations):
        left = float(counts @ timed)
        for part, seconds in parts.items():
            name = part.kind if part.kind == COLLECTIVES else f"{phase}_{part.kind}"
            taken = getattr(factors, name) * float(counts @ seconds)
            left -= taken
            yield Share(part=part.name, phase=phase, family=part.family, kind=part.kind, time_s=taken,
                        share=taken / total, origin=part.origin, limiter=part.limiter)  # fmt: skip
        if left > 1e-3 * total:  # beyond what reading tables by part and together differ in
            yield Share(part="slowest_stage", phase=phase, family=WAIT, kind=WAIT, time_s=left, share=left / total,
                        origin="schedule", limiter=WAIT)  # fmt: skip


def _host(columns: Floats, iterations: Iterations, total: float) -> Iterator[Share]:
    taken = columns[:, _TIMED : len(ITERATION)].sum(axis=1)
    for phase, counts in _phases(iterations):
        time_s = float(np.dot(counts, taken))
        yield Share(
            part=HOST,
            phase=phase,
            family=HOST,
            kind=HOST,
            time_s=time_s,
            share=time_s / total,
            origin=FITTED,
            limiter=HOST,
        )
