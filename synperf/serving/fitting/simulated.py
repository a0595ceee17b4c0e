"""Measured serving points, served in the model: what factors multiply in their mean times, for each policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...hardware import GPU, DType, gpu
from ...measurements.points import Points, Setup
from ...models import Model, Plan, model
from ...models.formats import main_format
from .. import linear
from ..capacity import capacity
from ..engine import engine
from ..factors import ITERATION, NAMES
from ..in_step import Predict, in_step
from ..iterations import Iterations
from ..loop import serve
from ..policy import ORDERS, Policy
from ..stage_costs import Extent
from ..step_costs import StepCosts
from ..workload import ClosedLoop
from .solve import Features

_MEAN_LENGTH = 0.9  # of the nominal one, where lengths are spread over 0.8 to 1


class Choice(NamedTuple):
    """What of an engine's policy is chosen by how well it fits."""

    order: str
    token_budget: int

    def of(self, engine_name: str) -> Policy:
        """The policy of an engine, with this choice."""
        return replace(engine(engine_name).policy, order=self.order, token_budget=self.token_budget)


CHOICES = tuple(Choice(order, 8192) for order in ORDERS)  # budgets of 2048 and 16384 fit no better


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """Features by policy, in the order of those asked for, and what else follows from a point's setup.

    `formats` are those in which most weights are multiplied. Of `limited` points the cache does not hold all requests
    at their mean length.
    """

    features: tuple[Features, ...]
    formats: npt.NDArray[Any]
    limited: npt.NDArray[np.bool_]

    def take(self, which: npt.NDArray[Any]) -> Simulated:
        """The points that a mask or indices name."""
        return Simulated(
            features=tuple(one.take(which) for one in self.features),
            formats=self.formats[which],
            limited=self.limited[which],
        )


@dataclass(frozen=True, slots=True)
class _Schedule:
    """A closed loop that was served: what its iterations cost gives its features."""

    iterations: Iterations
    weights: linear.Weights


@dataclass(frozen=True, slots=True)
class _Load:
    """The load of a point under a policy; `room` are tokens in the cache, None where they never run out."""

    concurrency: int
    isl: int
    osl: int
    policy: Policy
    room: int | None

    def served(self) -> _Schedule:
        """The schedule."""
        loop = ClosedLoop(concurrency=self.concurrency, isl=self.isl, osl=self.osl)
        iterations, served = serve(loop.arrivals(), self.policy, max_tokens=self.room)
        return _Schedule(iterations, linear.weights(iterations, served))


def plan_of(setup: Setup) -> Plan:
    """The plan of points of one setup."""
    ranks = {name: getattr(setup, name) for name in ("tp", "pp", "dp", "ep")}
    return Plan(**ranks, dtype=DType(setup.dtype) if setup.dtype else None, engine=setup.engine)


def simulated(
    points: Points, choices: Sequence[Choice] = CHOICES, *, estimate: Predict = in_step,
    told: Callable[[int], None] = lambda _: None,
) -> Simulated:  # fmt: skip
    """Every point under every policy; `told` hears how many more are done.

    Raises:
        PerfError: a model, GPU or engine is not known, or a plan does not go with its model.
    """
    tpot = np.zeros((len(choices), len(points), len(ITERATION)))
    ttft = np.zeros((len(choices), len(points), len(NAMES)))
    formats, limited = np.full(len(points), "", dtype=object), np.zeros(len(points), dtype=bool)
    schedules: dict[_Load, _Schedule] = {}
    for setup, rows in points.setups():
        served = _Served.of(setup, estimate, _extent(points, rows, choices))
        formats[rows] = main_format(served.model, served.plan)
        for row in rows.tolist():
            concurrency, isl, osl = (int(getattr(points, name)[row]) for name in ("concurrency", "isl", "osl"))
            room = served.room(isl + osl)
            limited[row] = room is not None and concurrency * (isl + osl) * _MEAN_LENGTH > room
            binds = room is not None and room < concurrency * (isl + osl)
            for at, choice in enumerate(choices):
                load = _Load(concurrency, isl, osl, choice.of(setup.engine), room if binds else None)
                schedule = schedules.get(load) or schedules.setdefault(load, load.served())
                found = schedule.weights.of(served.costs.columns(schedule.iterations))
                tpot[at, row], ttft[at, row] = found.tpot, found.ttft
        told(len(rows))
    features = tuple(Features(tpot=tpot[at], ttft=ttft[at]) for at in range(len(choices)))
    return Simulated(features=features, formats=formats, limited=limited)


def _extent(points: Points, rows: npt.NDArray[np.int64], choices: Sequence[Choice]) -> Extent:
    """The largest iterations; a prompt that is longer than the budget runs alone where it cannot be cut."""
    return Extent(
        tokens=max(*(choice.token_budget for choice in choices), int(points.isl[rows].max())),
        requests=int(points.concurrency[rows].max()),
        length=int((points.isl + points.osl)[rows].max()),
    )


@dataclass(frozen=True, slots=True)
class _Served:
    """What serves the points of one setup."""

    model: Model
    plan: Plan
    gpu: GPU
    costs: StepCosts

    @classmethod
    def of(cls, setup: Setup, estimate: Predict, extent: Extent) -> _Served:
        """The model, the plan and their costs."""
        which, plan, device = model(setup.model), plan_of(setup), gpu(setup.gpu)
        graphs = engine(setup.engine).graphs
        return cls(which, plan, device, StepCosts(which, plan, device, extent, padded=graphs, estimate=estimate))

    def room(self, length: int) -> int | None:
        """Tokens that the cache holds, of requests of that length; None of models that keep none."""
        share = engine(str(self.plan.engine)).utilization
        requests = capacity(self.model, self.gpu, self.plan, share, length).memory.max_requests
        return None if requests is None else max(requests, 1) * length
