"""How much of the communication of a step computation hides, and what the rest costs.

A bucket of gradients is sent once they are ready and the bucket before it has been sent. Source: S. Li et al.,
"PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 13(12), 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..errors import FieldError
from ..units import format_percent, format_time
from .amounts import all_not_negative, all_positive, count, not_negative, positive

_MOST_BUCKETS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """When the gradients of a bucket are ready, and from when to when it is sent, from the start of the step."""

    ready_s: float
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """`step_s` is computation and what of the communication it does not hide, `exposed_s`.

    `scaling_efficiency` is the time of computation alone, which one GPU needs, over the step's.
    """

    compute_s: float
    comm_s: float
    hidden_s: float
    exposed_s: float
    step_s: float
    scaling_efficiency: float
    buckets: tuple[Bucket, ...]
    backward_s: float | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def overlap(
    *,
    compute_s: float,
    comm_s: float | None = None,
    overlap_s: float | None = None,
    buckets: int | None = None,
    backward_s: float | None = None,
    latency_s: float = 0.0,
    ready_s: Sequence[float] | None = None,
    bucket_comm_s: Sequence[float] | None = None,
) -> Overlap:
    """The time of a step of which `overlap_s` of `comm_s` are hidden, or whose gradients are sent in buckets.

    Equal `buckets` become ready one after the other over the last `backward_s` of the computation, and each costs
    `latency_s` beside its part of `comm_s`; `ready_s` and `bucket_comm_s` give the times of unequal ones.

    Raises:
        FieldError: a time is not what it should be, or it is not said what overlaps.
    """
    positive(compute_s=compute_s)
    not_negative(latency_s=latency_s)
    if ready_s is not None or bucket_comm_s is not None:
        return _of_lists(compute_s, ready_s, bucket_comm_s)
    if comm_s is None:
        raise FieldError("comm_s: none given; right would be the time of all communication, such as 60ms")
    not_negative(comm_s=comm_s)
    if buckets is not None:
        return _of_equal(compute_s, comm_s, _backward(compute_s, backward_s), latency_s, buckets)
    if overlap_s is None:
        raise FieldError("overlap_s: none given; right would be how long both run at once, or buckets and backward_s")
    return _plain(compute_s, comm_s, overlap_s)


def timeline(ready_s: Sequence[float], comm_s: Sequence[float]) -> tuple[Bucket, ...]:
    """When each bucket is sent: once it is ready and the one before it has been sent."""
    found, free = [], 0.0
    for ready, comm in zip(ready_s, comm_s, strict=True):
        start = max(ready, free)
        free = start + comm
        found.append(Bucket(ready_s=ready, start_s=start, end_s=free))
    return tuple(found)


def _plain(compute_s: float, comm_s: float, overlap_s: float) -> Overlap:
    not_negative(overlap_s=overlap_s)
    if overlap_s > compute_s:
        raise FieldError(f"overlap_s must be up to compute_s, {compute_s:g}, got {overlap_s:g}")
    exposed = max(0.0, comm_s - overlap_s)
    advice = (
        (f"hide all {format_time(comm_s)}: the step takes {format_time(max(compute_s, comm_s))}",) if exposed else ()
    )
    return _made(compute_s, comm_s, exposed, (), None, advice)


def _backward(compute_s: float, backward_s: float | None) -> float:
    if backward_s is None:
        raise FieldError("backward_s: none given; right would be the part of compute_s in which gradients become ready")
    positive(backward_s=backward_s)
    if backward_s > compute_s:
        raise FieldError(f"backward_s must be up to compute_s, {compute_s:g}, got {backward_s:g}")
    return backward_s


def _of_equal(compute_s: float, comm_s: float, backward_s: float, latency_s: float, buckets: int) -> Overlap:
    number = count("buckets", buckets, _MOST_BUCKETS)
    found = _equal(compute_s, comm_s, backward_s, latency_s, number)
    exposed = max(0.0, found[-1].end_s - compute_s)
    tried = {n: max(compute_s, _equal(compute_s, comm_s, backward_s, latency_s, n)[-1].end_s) for n in _numbers(number)}
    advice = tuple(_fewer_or_more(number, compute_s + exposed, tried, latency_s > 0))
    return _made(compute_s, comm_s + number * latency_s, exposed, found, backward_s, advice)


def _numbers(given: int) -> set[int]:
    """Numbers of buckets to try: twice and half as many, powers of two, and those near to the given one."""
    powers = {2**power for power in range(_MOST_BUCKETS.bit_length())}
    near = {2 * given, given // 2, *range(given - 4, given + 5)}
    return powers | {n for n in near if 1 <= n <= _MOST_BUCKETS}


def _fewer_or_more(given: int, step_s: float, tried: Mapping[int, float], has_best: bool) -> Iterator[str]:
    """Twice or half as many buckets, where that is faster; and the best number, if each costs latency."""
    best = min(tried, key=lambda n: (tried[n], n))
    numbers = [2 * given, given // 2, *([best] if has_best else [])]
    for number in dict.fromkeys(numbers):
        if number in tried and tried[number] < step_s * (1 - 1e-9):
            least = ", the best of all numbers tried" if has_best and number == best else ""
            yield f"{number} buckets instead of {given}: the step takes {format_time(tried[number])}{least}"


def _equal(compute_s: float, comm_s: float, backward_s: float, latency_s: float, number: int) -> tuple[Bucket, ...]:
    ready = [compute_s - backward_s * (number - 1 - at) / number for at in range(number)]
    return timeline(ready, [comm_s / number + latency_s] * number)


def _of_lists(compute_s: float, ready_s: Sequence[float] | None, comm_s: Sequence[float] | None) -> Overlap:
    if ready_s is None or comm_s is None:
        missing, other = ("ready_s", "bucket_comm_s") if ready_s is None else ("bucket_comm_s", "ready_s")
        raise FieldError(f"{missing}: none given; right would be a list as long as {other}")
    all_not_negative("ready_s", ready_s)
    all_positive("bucket_comm_s", comm_s)
    if len(ready_s) != len(comm_s):
        raise FieldError(f"bucket_comm_s has {len(comm_s)} values, but ready_s has {len(ready_s)}")
    for at, (before, after) in enumerate(pairwise(ready_s), 1):
        if after < before:
            raise FieldError(f"ready_s must not fall, got {after:g} after {before:g} at index {at}")
    if ready_s[-1] > compute_s:
        raise FieldError(f"ready_s must be up to compute_s, {compute_s:g}, got {ready_s[-1]:g}")
    found = timeline(ready_s, comm_s)
    exposed = max(0.0, found[-1].end_s - compute_s)
    return _made(compute_s, sum(comm_s), exposed, found, None, tuple(_split(compute_s, exposed, ready_s, comm_s)))


def _split(compute_s: float, exposed: float, ready_s: Sequence[float], comm_s: Sequence[float]) -> Iterator[str]:
    """What it brings to send the half of the last bucket that is ready first."""
    middle = (ready_s[-1] + (ready_s[-2] if len(ready_s) > 1 else 0.0)) / 2
    halves = [*ready_s[:-1], middle, ready_s[-1]], [*comm_s[:-1], comm_s[-1] / 2, comm_s[-1] / 2]
    end = max(timeline(*halves)[-1].end_s, compute_s)
    if end < compute_s + exposed:
        yield f"send the last bucket in two halves, the first once it is ready: the step takes {format_time(end)}"


def _made(
    compute_s: float,
    comm_s: float,
    exposed: float,
    buckets: tuple[Bucket, ...],
    backward_s: float | None,
    advice: tuple[str, ...],
) -> Overlap:
    step = compute_s + exposed
    efficiency = compute_s / step
    why = [
        f"{format_time(compute_s)} of computation and {format_time(exposed)} that it does not hide of "
        f"{format_time(comm_s)} of communication: {format_time(step)}, {format_percent(efficiency)} of it computation"
    ]
    if buckets:
        last = buckets[-1]
        why.append(
            f"the last bucket is ready at {format_time(last.ready_s)}, its sending begins at "
            f"{format_time(last.start_s)} and takes {format_time(last.end_s - last.start_s)}"
        )
    return Overlap(
        compute_s=compute_s,
        comm_s=comm_s,
        hidden_s=comm_s - exposed,
        exposed_s=exposed,
        step_s=step,
        scaling_efficiency=efficiency,
        buckets=buckets,
        backward_s=backward_s,
        why=tuple(why),
        advice=advice or ("nothing is exposed: shorter communication brings nothing",) if not exposed else advice,
    )
