"""What padding sequences to common lengths costs: tokens that nobody asked for, and attention over them.

Waste is the share of padded tokens that hold nothing, 1 - useful / padded; overhead is what they add, padded / useful
- 1. A layer without attention costs in proportion to the tokens, attention to the sum of squares of padded lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..kernels.fields import whole
from ..units import format_percent
from .amounts import extent
from .padding_buckets import equal_edges, optimal_edges

STRATEGIES = ("fixed", "buckets", "dynamic", "packed")
ORDERS = ("sorted", "given", "random", "drawn")
EDGES, COSTS = ("optimal", "equal"), ("linear", "quadratic")
_MOST = 10_000_000  # lengths of one question


@dataclass(frozen=True, slots=True, kw_only=True)
class Padded:
    """Totals of one strategy; of random batches they are expectations, which need not be whole."""

    name: str
    padded_tokens: float
    waste: float
    overhead: float
    attention_waste: float  # the same two of sums of squares
    attention_overhead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """What `strategy` does to these lengths, and beside it every other strategy that can be told for them.

    `utilization` is 1 - `waste`. `buckets` are the lengths that sequences are padded to, `batch` and `order` those of
    dynamic batches, each None where the strategy has none.
    """

    strategy: str
    sequences: int
    useful_tokens: int
    padded_tokens: float
    waste: float
    utilization: float
    overhead: float
    attention_waste: float
    attention_overhead: float
    buckets: tuple[int, ...] | None
    batch: int | None
    order: str | None
    others: tuple[Padded, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def padding(
    lengths: Sequence[int] | np.ndarray,
    *,
    strategy: str = "fixed",
    buckets: int | Sequence[int] = 3,
    batch: int = 2,
    order: str = "sorted",
    edges: str = "optimal",
    cost: str = "linear",
    capacity: int | None = None,
) -> Padding:
    """What padding these lengths costs.

    Args:
        lengths: tokens of each sequence.
        strategy: `fixed` (to `capacity`, or the longest), `buckets` (to the next of a few lengths), `dynamic` (batches
            of `batch`, each to its own longest) or `packed` (sequences one after another, no padding).
        buckets: the lengths themselves, or how many; where these then lie is `edges`: where they cost least (by `cost`,
            tokens or attention's squares), or `equal` widths up to the longest.
        order: of dynamic batches: `sorted`, as `given`, `random` (expected over all orders) or `drawn` (expected, each
            sequence drawn anew from the lengths).
        capacity: what `fixed` pads to.

    Raises:
        FieldError: a length, the batch or the buckets are not whole numbers from 1, or a sequence is longer than the
            last bucket or the capacity.
        UnknownNameError: no such strategy, order, edges or cost.
    """
    for kind, given, known in (
        ("strategy", strategy, STRATEGIES), ("order", order, ORDERS), ("edges", edges, EDGES), ("cost", cost, COSTS),
    ):  # fmt: skip
        if given not in known:
            raise UnknownNameError(f"{kind}: {UnknownNameError.among(kind, given, known)}")
    values = _lengths(lengths)
    many = extent("batch", batch)
    limit = _limit("capacity", values, None if capacity is None else extent("capacity", capacity))
    ends = _edges(values, buckets, edges, cost)
    totals = {
        "fixed": _totals(f"fixed, to {limit}", values, np.full_like(values, limit)),
        "buckets": _totals(f"buckets {'/'.join(map(str, ends))}", values, _next(values, ends)),
        **{
            f"dynamic {one}": _totals(f"dynamic, {one}, batches of {many}", values, *_batches(values, many, one))
            for one in ORDERS
        },
        "packed": _totals("packed", values, values),
    }
    key = f"dynamic {order}" if strategy == "dynamic" else strategy
    mine = totals.pop(key)
    others = tuple(totals.values())
    return Padding(
        strategy=mine.name,
        sequences=len(values),
        useful_tokens=int(values.sum()),
        padded_tokens=mine.padded_tokens,
        waste=mine.waste,
        utilization=1 - mine.waste,
        overhead=mine.overhead,
        attention_waste=mine.attention_waste,
        attention_overhead=mine.attention_overhead,
        buckets=ends if strategy == "buckets" else None,
        batch=many if strategy == "dynamic" else None,
        order=order if strategy == "dynamic" else None,
        others=others,
        why=_why(mine, values),
        advice=_advice(mine, others),
    )


def _lengths(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    if not 1 <= len(lengths) <= _MOST:
        raise FieldError(f"lengths must be from 1 to {_MOST:,} whole numbers, got {len(lengths):,}")
    return np.asarray(whole("lengths", lengths), dtype=np.int64)


def _limit(name: str, values: np.ndarray, limit: int | None) -> int:
    longest = int(values.max())
    if limit is not None and limit < longest:
        raise FieldError(f"{name}: {limit} is less than the longest sequence; right would be {longest} or more")
    return longest if limit is None else limit


def _edges(values: np.ndarray, buckets: int | Sequence[int], edges: str, cost: str) -> tuple[int, ...]:
    if np.ndim(buckets) > 0:
        if not len(buckets):  # type: ignore[arg-type]
            raise FieldError("buckets must be a number or a list of lengths, got an empty list")
        own = sorted({int(one) for one in np.atleast_1d(np.asarray(whole("buckets", buckets)))})
        _limit("buckets", values, own[-1])
        return tuple(own)
    count = extent("buckets", buckets)
    return (
        equal_edges(values, count) if edges == "equal" else optimal_edges(values, count, 2 if cost != "linear" else 1)
    )


def _next(values: np.ndarray, ends: Sequence[int]) -> np.ndarray:
    steps = np.asarray(ends, dtype=np.int64)
    return steps[np.searchsorted(steps, values)]


def _batches(values: np.ndarray, batch: int, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Padded lengths, and what of each is expected: as many as there are sequences, in no order of theirs."""
    if order in ("sorted", "given"):
        placed = np.sort(values) if order == "sorted" else values
        starts = np.arange(0, len(placed), batch)
        sizes = np.diff(np.append(starts, len(placed)))
        return np.repeat(np.maximum.reduceat(placed, starts), sizes), np.ones(len(placed))
    whole_batches, rest = divmod(len(values), batch)
    placed = np.sort(values)
    weights = np.zeros(len(placed))
    for sequences, drawn in ((whole_batches * batch, batch), (rest, rest)):
        if sequences:
            weights += sequences * _longest_of(len(placed), drawn, order)
    return placed, weights


def _longest_of(count: int, drawn: int, order: str) -> np.ndarray:
    """The chance of each of `count` ascending values to be the greatest of `drawn`: with or without replacement."""
    rank = np.arange(count + 1, dtype=np.float64)
    if order == "drawn":
        return np.diff((rank / count) ** drawn)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(rank[1:]))])  # its logarithm, of every rank
    enough = np.arange(drawn, count + 1)
    chosen = factorial[enough] - factorial[enough - drawn]  # all of the drawn are among the first so many
    return np.diff(np.concatenate([np.zeros(drawn), np.exp(chosen - chosen[-1])]))


def _totals(name: str, values: np.ndarray, padded: np.ndarray, weights: np.ndarray | float = 1.0) -> Padded:
    exact = padded.astype(np.float64)
    tokens, squares = float((exact * weights).sum()), float((exact**2 * weights).sum())
    useful, own = float(values.sum()), float((values.astype(np.float64) ** 2).sum())
    return Padded(
        name=name,
        padded_tokens=tokens,
        waste=1 - useful / tokens,
        overhead=tokens / useful - 1,
        attention_waste=1 - own / squares,
        attention_overhead=squares / own - 1,
    )


def _why(mine: Padded, values: np.ndarray) -> tuple[str, ...]:
    useful = int(values.sum())
    waste, overhead = format_percent(mine.waste), format_percent(mine.overhead)
    return (
        f"{mine.name}: {useful:,} tokens become {mine.padded_tokens:,.6g}, so {waste} of what is computed is padding, "
        f"{overhead} more than is needed",
        f"attention grows with the square of a length: {format_percent(mine.attention_overhead)} more than is needed",
    )


def _advice(mine: Padded, others: Sequence[Padded]) -> tuple[str, ...]:
    """The next better strategy that pads at all, and packing, which ends it."""
    if mine.padded_tokens <= min(one.padded_tokens for one in others) and mine.waste == 0:
        return ("nothing is padded",)
    padded = [one for one in others if one.name != "packed" and one.padded_tokens < mine.padded_tokens]
    waste = format_percent(mine.waste)
    said = [f"packed sequences (variable lengths, cu_seqlens) need no padding: {waste} of the work goes"]
    if padded:
        best = min(padded, key=lambda one: one.padded_tokens)
        said.insert(0, f"{best.name}: {best.padded_tokens:,.6g} tokens, {format_percent(best.waste)} waste")
    return tuple(said)
