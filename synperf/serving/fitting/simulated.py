"""Measured serving points, served in the model: what factors multiply in their mean times, for each policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import linear
from ...api import predict
from ...calculators.memory import memory
from ...estimators import Estimate
from ...hardware import GPU, gpu
from ...measurements.points import Points, Setup
from ...models import Model, Plan, model
from ...models.formats import planned
from ..iterations import Iterations
from ..loop import serve
from ..policy import ORDERS, Policy
from ..step_costs import Extent, StepCosts
from ..workload import ClosedLoop
from .solve import Features

POLICIES = tuple(Policy(order=order, token_budget=budget) for order in ORDERS for budget in (2048, 8192, 16384))
_MEAN_LENGTH = 0.9  # of the nominal one, where lengths are spread over 0.8 to 1
Predict = Callable[[Any, GPU], Estimate]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """Features by policy, in the order of those asked for, and what else follows from a point's setup.

    `formats` are those in which most weights are multiplied. `limited` points ask for more of the cache at once than
    there is, by the mean tokens of their requests.
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
    return Plan(
        tp=setup.tp, pp=setup.pp, dp=setup.dp, ep=setup.ep, dtype=setup.dtype or None, engine=setup.engine
    )  # fmt: skip


def format_of(which: Model, plan: Plan) -> str:
    """The format in which most weights are multiplied."""
    found = planned(which, plan)
    schemes = [scheme.dtype for layer in found.kinds for _, scheme in layer.schemes]
    return str(max(schemes, key=schemes.count) if schemes else found.dtype)


def simulated(
    points: Points, policies: Sequence[Policy] = POLICIES, *, estimate: Predict = predict,
    told: Callable[[int], None] = lambda _: None,
) -> Simulated:  # fmt: skip
    """Every point under every policy; `told` hears how many are done.

    Raises:
        PerfError: a model or GPU is not known, a plan does not go with its model, or a request can never fit.
    """
    tpot, ttft = np.zeros((len(policies), len(points), 10)), np.zeros((len(policies), len(points), 13))
    formats, limited = np.full(len(points), "", dtype=object), np.zeros(len(points), dtype=bool)
    schedules: dict[_Load, _Schedule] = {}
    for setup, rows in points.setups():
        which, plan, device = model(setup.model), plan_of(setup), gpu(setup.gpu)
        costs = StepCosts(which, plan, device, _extent(points, rows, policies), estimate=estimate)
        formats[rows] = format_of(which, plan)
        for row, room in zip(rows.tolist(), _rooms(points, rows, which, plan, device), strict=True):
            limited[row] = room is not None and _kept(points, row) > room
            for at, load in enumerate(_loads(points, row, policies, room)):
                schedule = schedules.get(load) or schedules.setdefault(load, load.served())
                found = schedule.weights.of(costs.columns(schedule.iterations))
                tpot[at, row], ttft[at, row] = found.tpot, found.ttft
        told(len(rows))
    features = tuple(Features(tpot=tpot[at], ttft=ttft[at]) for at in range(len(policies)))
    return Simulated(features=features, formats=formats, limited=limited)


def _extent(points: Points, rows: npt.NDArray[np.int64], policies: Sequence[Policy]) -> Extent:
    return Extent(
        tokens=max(policy.token_budget for policy in policies),
        requests=int(points.concurrency[rows].max()),
        length=int((points.isl + points.osl)[rows].max()),
    )


def _loads(points: Points, row: int, policies: Sequence[Policy], room: int | None) -> Iterator[_Load]:
    concurrency, isl, osl = (int(getattr(points, name)[row]) for name in ("concurrency", "isl", "osl"))
    most = concurrency * (isl + osl)
    for policy in policies:
        yield _Load(concurrency, isl, osl, policy, room if room is not None and room < most else None)


def _kept(points: Points, row: int) -> float:
    """Tokens of all requests at once, in the mean of the time that they are served."""
    length = points.isl[row] + points.osl[row] / 2
    return float(points.concurrency[row] * length * _MEAN_LENGTH)


def _rooms(
    points: Points, rows: npt.NDArray[np.int64], which: Model, plan: Plan, device: GPU
) -> Iterator[int | None]:  # fmt: skip
    """Tokens that the cache holds, of requests as long as those of each row; None of models that keep none."""
    for row in rows.tolist():
        length = int(points.isl[row] + points.osl[row])
        requests = memory(which, device, plan, seq=length).max_requests
        yield None if requests is None else max(requests, 1) * length
