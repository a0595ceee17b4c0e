"""Factors of a user's own stack, from serving points measured there, around those of the nearest stack that ships.

Three points of a model move factors, one moves times: what a point is off holds for its recipe, and less for loads that
are far from it (`serving/fitting/residual.py`). Errors are of points that were left out, one part after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from ..errors import FieldError
from ..hardware import gpu
from ..measurements.points import Points
from ..models import decode, model, pass_bytes
from ..serving.factors import NAMES
from ..serving.fitted import Fitted
from ..serving.fitting.fitted import Fit, given_tree
from ..serving.fitting.labels import FAMILY, STACK, Key
from ..serving.fitting.served import Served
from ..serving.fitting.simulated import CHOICES, Choice, plan_of
from ..serving.fitting.solve import Floats, general
from ..serving.fitting.tree import FEWEST, TIGHTNESS, Node, Tree, fitted_node
from ..serving.stack_file import Spread, StackFile, shipped
from ..serving.stacks import stack
from .stacks import families_of, interval_of, level_of, measured_of

_FOLDS = 10
_NEAREST = 0.5  # of reading the weights: drafted tokens come several at a time
_FEWEST_OF_INTERVAL = 10  # points that were left out, for an interval of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Absolute relative errors of mean times to the first token and between tokens."""

    ttft_median: float
    ttft_mean: float
    tpot_median: float
    tpot_mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFit:
    """What was fitted, and errors without it (`before`) and with it on points that it did not see (`after`).

    `after` is None where there is one point alone. `limited` are points whose cache has no room for all clients at
    once; nothing is fitted to them.
    """

    file: StackFile
    points: int
    limited: int
    before: Errors
    after: Errors | None


def fit_own(points: Points, told: Callable[[int], None] = lambda _: None) -> OwnFit:
    """The stacks of measured points; `told` hears how many more are served in the model.

    Raises:
        PerfError: a model, GPU or engine is not known, or a plan does not go with its model.
        FieldError: the cache has no room for all clients at once in any point; or a time is shorter than reading the
            weights takes.
    """
    _check_possible(points)
    every = Served.of(points, told=told)
    served = every.take(~every.simulated.limited)
    if not len(served):
        raise FieldError("rows: no point whose clients all have room in the cache; right would be fewer at once")
    seeds = [_seed(served.points, row) for row in range(len(served))]
    made = _fit(served, seeds)
    before = _before(served, seeds)
    after = _left_out(served, seeds)
    return OwnFit(
        file=_file(served, made, after),
        points=len(served),
        limited=len(points) - len(served),
        before=_errors(served, before),
        after=None if after is None else _errors(served, after),
    )


def _check_possible(points: Points) -> None:
    """Checks that no time between tokens is below that of reading the weights of one token.

    Raises:
        FieldError: one is; the message has its row.
    """
    for setup, rows in points.setups():
        plan, device = plan_of(setup), gpu(setup.gpu)
        least_s = float(pass_bytes(model(setup.model), plan, decode([1]))) / device.dram_bytes_per_s
        for row in rows[points.tpot_s[rows] < _NEAREST * least_s]:
            said, least = f"{points.name[row]}: tpot_ms {1e3 * points.tpot_s[row]:g}", f"{1e3 * least_s:.3g}"
            raise FieldError(
                f"{said} is less than half of the {least} in which {device.key} reads the weights of one token; "
                "right would be the mean over all requests"
            )


def _seed(points: Points, row: int) -> Fitted:
    """What is known without the points."""
    setup = next(iter(points.take(np.array([row])).setups()))[0]
    return stack(model(setup.model), plan_of(setup), gpu(setup.gpu), str(points.version[row]) or None)


def _node(seed: Fitted) -> Node:
    values = np.array([getattr(seed.factors, name) for name in NAMES])
    choice = Choice(seed.policy.order, seed.policy.token_budget)
    return Node(values=values, policy=CHOICES.index(choice) if choice in CHOICES else 0, points=0)


def _fit(served: Served, seeds: list[Fitted]) -> Fit:
    """Factors of every stack and family, and what they leave."""
    nodes: dict[Key, Node] = {}
    for names in (STACK, FAMILY):
        for key, rows in served.labels.groups(names).items():
            nodes[key] = _around(served, rows, _node(seeds[rows[0]]), FEWEST[names])
    return given_tree(Tree(nodes=nodes), served.labels, served.simulated.features, served.target)


def _around(served: Served, rows: npt.NDArray[np.int64], seed: Node, fewest: int) -> Node:
    if len(rows) < fewest:
        return seed
    policies = range(len(CHOICES)) if len(rows) >= FEWEST[STACK] else [seed.policy]
    towards = general().around(seed.values, TIGHTNESS)
    return fitted_node(rows, served.simulated.features, served.target, towards, policies)


def _before(served: Served, seeds: list[Fitted]) -> tuple[Floats, Floats]:
    ttft, tpot = np.empty(len(served)), np.empty(len(served))
    for row, seed in enumerate(seeds):
        node, at = _node(seed), np.array([row])
        own = served.simulated.features[node.policy].take(at).times(node.values)
        load = (int(getattr(served.points, name)[row]) for name in ("concurrency", "isl", "osl"))
        ratios = seed.ratios(*load)
        ttft[row], tpot[row] = own[0][0] * ratios[0], own[1][0] * ratios[1]
    return ttft, tpot


def _left_out(served: Served, seeds: list[Fitted]) -> tuple[Floats, Floats] | None:
    """Times of points by what is fitted to the others, one part after another."""
    if len(served) < 2:
        return None
    ttft, tpot = _before(served, seeds)
    part = np.arange(len(served)) % min(_FOLDS, len(served))
    for fold in set(part.tolist()):
        out = part == fold
        made = _fit(served.take(~out), [seed for seed, is_out in zip(seeds, out, strict=True) if not is_out])
        found = served.take(out).times(made)
        known = np.isfinite(found[1])
        ttft[np.flatnonzero(out)[known]], tpot[np.flatnonzero(out)[known]] = found[0][known], found[1][known]
    return ttft, tpot


def _errors(served: Served, found: tuple[Floats, Floats]) -> Errors:
    ttft, tpot = (np.abs(one / real - 1) for one, real in zip(found, _real(served), strict=True))
    return Errors(
        ttft_median=float(np.median(ttft)), ttft_mean=float(ttft.mean()), tpot_median=float(np.median(tpot)),
        tpot_mean=float(tpot.mean()),
    )  # fmt: skip


def _real(served: Served) -> tuple[Floats, Floats]:
    return served.target.ttft_s, served.target.tpot_s


def _file(served: Served, made: Fit, after: tuple[Floats, Floats] | None) -> StackFile:
    spreads = dict(shipped().spreads)
    spreads["recipe"] = spreads["family"] if after is None else _spread(served, after, spreads["family"])
    return StackFile(
        provenance={"source": "the user's own points", "rows": str(len(served)),
                    "date": f"{datetime.now(UTC):%Y-%m-%d}", "command": "synperf fit-engine"},
        families=families_of(served.points),
        spreads=spreads,
        ttft=made.ttft.covariance,
        tpot=made.tpot.covariance,
        levels=tuple(level_of(key, node) for key, node in sorted(made.tree.nodes.items())),
        measured=tuple(measured_of(served, made)),
    )  # fmt: skip


def _spread(served: Served, after: tuple[Floats, Floats], other: Spread) -> Spread:
    """What points lie between that were left out; of few, what those of families do."""
    if len(served) < _FEWEST_OF_INTERVAL:
        return other
    ttft, tpot = after
    e2e = served.e2e_s(*_real(served)) / served.e2e_s(ttft, tpot)
    real = _real(served)
    return Spread(
        ttft=interval_of(real[0] / ttft), tpot=interval_of(real[1] / tpot), e2e=interval_of(e2e), points=len(served)
    )
