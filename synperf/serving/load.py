"""A load on a plan: the schedule of one of its groups of GPUs, timed, and what follows for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import ceil

from ..models import Plan
from .answer import Share, Steady, Times
from .breakdown import breakdown
from .factors import Factors
from .loop import serve
from .policy import Policy
from .stage_costs import Extent
from .statistics import Statistics, Summary, statistics
from .step_costs import StepCosts
from .workload import ClosedLoop, OpenLoop, RequestTrace

Load = ClosedLoop | OpenLoop | RequestTrace
MakeCosts = Callable[[Extent], StepCosts]


def times_of(
    load: Load, plan: Plan, policy: Policy, factors: Factors, costs: MakeCosts, max_tokens: int | None
) -> tuple[Times, tuple[str, ...]]:
    """What requests see, and what that rests on.

    Of `dp` groups and `pp` micro-batches each has its part of the clients, of the rate, or every so many of a trace's
    requests; all of them are like the first.

    Raises:
        FieldError: a request can never fit.
    """
    groups = _Groups(plan.dp * plan.pp, load)
    arrivals = groups.load.arrivals()
    longest = int((arrivals.isl + arrivals.osl).max())
    clients = len(arrivals) if arrivals.clients is None else arrivals.clients
    extent = Extent(
        tokens=min(policy.token_budget, int(arrivals.isl.sum())) if policy.chunked else int(arrivals.isl.max()),
        requests=min(policy.max_requests, clients),
        length=longest,
    )
    taken = costs(replace(extent, tokens=max(extent.tokens, policy.token_budget if clients > 1 else 1)))
    seconds = None if arrivals.clients is not None else partial(taken.seconds, factors=factors)
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=seconds)
    columns = taken.columns(iterations)
    found = statistics(iterations, served, columns @ factors.of_iterations(), factors)
    return _times(found, groups.scale, plan, breakdown(taken, iterations, factors)), taken.assumptions


class _Groups:
    """One of several equal groups, and what all of them are of it."""

    def __init__(self, count: int, load: Load) -> None:
        self.load, self.scale = load, 1.0
        if count == 1:
            return
        if isinstance(load, ClosedLoop):
            clients = ceil(load.concurrency / count)
            self.scale = load.concurrency / clients
            requests = ceil((load.num_requests or 0) / self.scale)
            self.load = replace(load, concurrency=clients, num_requests=max(requests, clients))
        elif isinstance(load, OpenLoop):
            self.scale = float(count)
            self.load = replace(load, request_rate=load.request_rate / count,
                                num_requests=max(1, ceil((load.num_requests or 0) / count)))  # fmt: skip
        else:
            isl, osl, cached = (column[::count] for column in (load.isl, load.osl, load.cached))
            self.scale = len(load.isl) / len(isl)
            self.load = RequestTrace(arrived_s=load.arrived_s[::count], isl=isl, osl=osl, cached=cached)


def _times(found: Statistics, scale: float, plan: Plan, parts: tuple[Share, ...]) -> Times:
    whole = found.whole
    return Times(
        ttft=whole.ttft_s,
        tpot=whole.tpot_s,
        itl=whole.itl_s,
        e2e=whole.e2e_s,
        decode_step_s=found.decode_step_s,
        floor_s=None,
        roofline_s=None,
        tokens_per_s=whole.tokens_per_s * scale,
        tokens_per_s_per_gpu=whole.tokens_per_s * scale / plan.gpus,
        requests_per_s=whole.requests_per_s * scale,
        mean_concurrency=whole.mean_concurrency * scale,
        steady=None if found.steady is None else _steady(found.steady, scale),
        left_out=found.left_out,
        breakdown=parts,
    )


def _steady(found: Summary, scale: float) -> Steady:
    return Steady(
        requests=found.requests,
        ttft=found.ttft_s,
        tpot=found.tpot_s,
        itl=found.itl_s,
        e2e=found.e2e_s,
        tokens_per_s=found.tokens_per_s * scale,
        mean_concurrency=found.mean_concurrency * scale,
    )
