"""A closed loop of clients on a stack: times corrected by measured points near to it, and none that falls with clients.

What measured points were off may fall with concurrency faster than times rise. More clients wait no shorter, so times
are at least those of each lesser power of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..models import Plan
from .answer import Times
from .corrected import corrected
from .fitted import Fitted
from .load import MakeCosts, times_of
from .stage_costs import Extent
from .step_costs import StepCosts
from .workload import ClosedLoop

_STEEP = 1.02  # ratios of fewer clients beyond this may outrun the growth of times


def closed_times(
    load: ClosedLoop, plan: Plan, known: Fitted, costs: MakeCosts, max_tokens: int | None
) -> tuple[Times, tuple[str, ...]]:
    """What requests see, and what that rests on.

    Raises:
        FieldError: a request can never fit.
    """
    shared = _Once(costs)
    times, said = times_of(load, plan, known.policy, known.factors, shared, max_tokens)
    ratios = _ratios(known, load)
    times = corrected(times, *ratios)
    for fewer in _fewer(load):
        others = _ratios(known, fewer)
        if any(other > _STEEP * ratio for other, ratio in zip(others, ratios, strict=True)):
            found, _ = times_of(fewer, plan, known.policy, known.factors, shared, max_tokens)
            times = _at_least(times, corrected(found, *others))
    return times, said


class _Once:
    """Costs of the largest load, which the others are read from."""

    def __init__(self, costs: MakeCosts) -> None:
        self._costs = costs
        self._made: StepCosts | None = None

    def __call__(self, extent: Extent) -> StepCosts:
        if self._made is None:
            self._made = self._costs(extent)
        return self._made


def _ratios(known: Fitted, load: ClosedLoop) -> tuple[float, float]:
    return known.ratios(load.concurrency, load.isl, load.osl)


def _fewer(load: ClosedLoop) -> Iterator[ClosedLoop]:
    """The load with each power of two of clients that is less, and as many requests of each."""
    each = (load.num_requests or 0) / load.concurrency
    clients = 1 << (load.concurrency - 1).bit_length() >> 1
    while clients:
        yield replace(load, concurrency=clients, num_requests=max(1, round(each * clients)))
        clients //= 2


def _at_least(times: Times, fewer: Times) -> Times:
    """The times, means to the first token and between tokens no shorter than those of fewer clients."""
    tpot = 1.0 if times.tpot is None or fewer.tpot is None else fewer.tpot.mean / times.tpot.mean
    return corrected(times, max(1.0, fewer.ttft.mean / times.ttft.mean), max(1.0, tpot))
