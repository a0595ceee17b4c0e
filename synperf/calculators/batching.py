"""What batches of a size give: throughput, what arrives of it, and how long a request waits for its answer.

Throughput is batch / time of the batch. How busy the GPU is is in a measured time already; only the share of time in
which the server has work turns it into the rate over a day.

Waiting: a batch of B fills in (B - 1) / (2 rate) in the mean; filled batches queue for one server, by Kingman's formula
with the spread of arrivals of every B-th request of a Poisson stream (1 / B) and none of the service.

Source: J. F. C. Kingman, "The Single Server Queue in Heavy Traffic", Math. Proc. Cambridge 57 (1961).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FieldError
from ..units import format_percent, format_time
from .amounts import extent, positive, share


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One size: requests in it and seconds that it takes; the rest follows from how many requests arrive.

    `rate_per_s` is the long-run rate: throughput times the share of time with work. Latencies are means, None where no
    rate of arrival is known or where more arrive than can be served.
    """

    batch: int
    batch_s: float
    throughput_per_s: float
    busy: float
    rate_per_s: float
    forming_s: float | None
    queue_s: float | None
    latency_s: float | None
    meets_limit: bool
    overloaded: bool  # more arrive than are served


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """Every size, and the one of the highest throughput within the limit, or None where none is."""

    batches: tuple[Batch, ...]
    best: Batch | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def batching(
    batches: Sequence[tuple[int, float]],
    *,
    busy: float = 1.0,
    arrivals_per_s: float | None = None,
    latency_limit_s: float | None = None,
) -> Batching:
    """What batches of these (size, seconds) give.

    Args:
        batches: requests of a batch and the seconds that it took when it was measured.
        busy: share of time in which the server has work, where `arrivals_per_s` does not tell.
        arrivals_per_s: requests that arrive in a second.
        latency_limit_s: mean latency that is allowed; of a batch alone where nothing is known of arrivals.

    Raises:
        FieldError: no batch, a size twice, a time, rate or limit not above 0, a share outside 0 to 1.
    """
    if not batches:
        raise FieldError("batches must be at least one (size, seconds), got none")
    sizes = [extent("batch", size) for size, _ in batches]
    if len(set(sizes)) < len(sizes):
        raise FieldError("batches: one size is given twice; right would be one time for each")
    share(busy=busy)
    given = {"arrivals_per_s": arrivals_per_s, "latency_limit_s": latency_limit_s}
    positive(**{name: value for name, value in given.items() if value is not None})
    positive(**{f"batch_s of {size}": seconds for size, (_, seconds) in zip(sizes, batches, strict=True)})
    found = tuple(
        _batch(size, seconds, busy, arrivals_per_s, latency_limit_s)
        for size, (_, seconds) in zip(sizes, batches, strict=True)
    )
    fitting = [one for one in found if one.meets_limit]
    best = max(fitting, key=lambda one: one.throughput_per_s) if fitting else None
    return Batching(batches=found, best=best, why=_why(best or found[0]), advice=_advice(found, best, latency_limit_s))


def _batch(size: int, seconds: float, busy: float, arrivals: float | None, limit: float | None) -> Batch:
    throughput = size / seconds
    load = busy if arrivals is None else min(1.0, arrivals / throughput)
    forming = queue = latency = None
    if arrivals is not None and arrivals < throughput:
        forming = (size - 1) / (2 * arrivals)
        queue = load / (1 - load) * (1 / size) / 2 * seconds
        latency = forming + queue + seconds
    known = seconds if arrivals is None else latency
    return Batch(
        batch=size,
        batch_s=seconds,
        throughput_per_s=throughput,
        busy=load,
        rate_per_s=throughput * load,
        forming_s=forming,
        queue_s=queue,
        latency_s=latency,
        overloaded=arrivals is not None and arrivals >= throughput,
        meets_limit=known is not None and (limit is None or known <= limit),
    )


def _why(one: Batch) -> tuple[str, ...]:
    return (
        f"{one.batch} in {format_time(one.batch_s)} are {one.throughput_per_s:,.4g}/s; the time was measured, so how "
        "busy the GPU was within it is in it already, and multiplying by that would count it twice",
        f"with work for {format_percent(one.busy)} of the time it serves {one.rate_per_s:,.4g}/s in the long run",
    )


def _advice(found: Sequence[Batch], best: Batch | None, limit: float | None) -> tuple[str, ...]:
    if best is None:
        most = max(found, key=lambda one: one.throughput_per_s)
        return (f"no size serves all that arrives{'' if limit is None else f' within {format_time(limit)}'}; the most "
                f"is {most.throughput_per_s:,.4g}/s with {most.batch}: more GPUs",)  # fmt: skip
    if len(found) == 1:
        return ("give the times of several sizes, and the one with most throughput within a limit is told",)
    within = "" if limit is None else f" within {format_time(limit)}"
    return (f"batches of {best.batch} give most{within}: {best.throughput_per_s:,.4g}/s",)
