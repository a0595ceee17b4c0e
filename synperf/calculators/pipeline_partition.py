"""Which layers each stage of a pipeline has: the slowest stage as fast as can be, then the fullest as empty.

Dynamic programming over the layers that the first stages have; exact. Source: D. Narayanan et al., "PipeDream:
Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ..errors import FieldError
from ..numeric import Number
from .amounts import all_positive, not_negative, positive
from .training_states import MIXED, PRECISIONS

_MOST_LAYERS = 256
_ROUNDING = 1 + 1e-12  # sums of the same layers in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Time and weights of each layer, and of what only the first stage (embedding) and only the last (head) have.

    `costs` are in any unit. `activation_bytes` are those of a layer and micro-batch. With `is_trained`, gradients and
    Adam's states are beside the 16-bit weights.
    """

    costs: tuple[float, ...]
    layer_bytes: float = 0.0
    embedding_cost: float = 0.0
    head_cost: float = 0.0
    embedding_bytes: float = 0.0
    head_bytes: float = 0.0
    activation_bytes: float = 0.0
    is_trained: bool = False
    memory_bytes: float | None = None

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is not what it should be.
        """
        all_positive("layer_costs", self.costs)
        if len(self.costs) > _MOST_LAYERS:
            raise FieldError(f"layers must be up to {_MOST_LAYERS}, got {len(self.costs)}")
        for name in ("layer_bytes", "embedding_bytes", "head_bytes", "activation_bytes", "embedding_cost", "head_cost"):
            not_negative(**{name: getattr(self, name)})
        if self.memory_bytes is not None:
            positive(memory_bytes=self.memory_bytes)

    def cost(self, first: int, end: int) -> float:
        """The time of a stage with the layers from `first` up to `end`."""
        ends = self.embedding_cost * (first == 0) + self.head_cost * (end == len(self.costs))
        return sum(self.costs[first:end]) + ends

    def weights(self, first: Number, end: Number) -> Number:
        """Bytes of the weights of that stage, or of arrays of stages."""
        ends = self.embedding_bytes * (first == 0) + self.head_bytes * (end == len(self.costs))
        return self.layer_bytes * (end - first) + ends

    def bytes(self, first: Number, end: Number, in_flight: float) -> Number:
        """Bytes of that stage, or of arrays of stages, with so many micro-batches in flight."""
        states = PRECISIONS[MIXED]
        factor = states.total / states.weights if self.is_trained else 1.0
        return factor * self.weights(first, end) + in_flight * self.activation_bytes * (end - first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Layers, time and bytes of each stage. `balance` is the mean time over that of the slowest stage.

    `fits` is None where no memory is given.
    """

    layers: tuple[int, ...]
    costs: tuple[float, ...]
    weights_bytes: tuple[float, ...]
    bytes: tuple[float, ...]
    balance: float
    fits: bool | None


def partition(layers: Layers, in_flight: Sequence[float], split: Sequence[float] | None = None) -> Partition:
    """The best partition for so many micro-batches in flight on each stage, or that of a given split.

    The slowest stage is as fast as the memory allows; where nothing fits, as it would be without that limit.

    Raises:
        FieldError: there are fewer layers than stages, or the split is not of these layers.
    """
    stages = len(in_flight)
    if len(layers.costs) < stages:
        raise FieldError(f"layers must be at least one for each of the {stages} stages, got {len(layers.costs)}")
    if split is not None:
        return _made(layers, in_flight, _checked(split, layers, stages))
    limit = layers.memory_bytes
    found = None if limit is None else _best(layers, in_flight, limit)
    return _made(layers, in_flight, found or _best(layers, in_flight, np.inf) or (1,) * stages)


def _checked(split: Sequence[float], layers: Layers, stages: int) -> tuple[int, ...]:
    if len(split) != stages:
        raise FieldError(f"split must have one number for each of the {stages} stages, got {len(split)}")
    if any(one < 1 or one != int(one) for one in split):
        raise FieldError(f"split must be whole numbers from 1 on, got {','.join(f'{one:g}' for one in split)}")
    if sum(split) != len(layers.costs):
        raise FieldError(f"split must add up to the {len(layers.costs)} layers, got {sum(split):g}")
    return tuple(map(int, split))


def _made(layers: Layers, in_flight: Sequence[float], split: tuple[int, ...]) -> Partition:
    spans = [*pairwise([0, *accumulate(split)])]
    costs = tuple(layers.cost(*span) for span in spans)
    sizes = tuple(layers.bytes(*span, held) for span, held in zip(spans, in_flight, strict=True))
    limit = layers.memory_bytes
    return Partition(
        layers=split,
        costs=costs,
        weights_bytes=tuple(layers.weights(*span) for span in spans),
        bytes=sizes,
        balance=sum(costs) / len(costs) / max(costs),
        fits=None if limit is None else max(sizes) <= limit,
    )


def _best(layers: Layers, in_flight: Sequence[float], limit: float) -> tuple[int, ...] | None:
    """First the least slowest stage, then the least fullest of these, then the most even; None where nothing fits."""
    costs = _costs(layers, len(in_flight))
    sizes = _sizes(layers, in_flight)
    costs = [np.where(size <= limit * _ROUNDING, cost, np.inf) for cost, size in zip(costs, sizes, strict=True)]
    fastest = _search(costs, np.maximum)
    if fastest is None:
        return None
    slowest = max(_values(costs, fastest)) * _ROUNDING
    sizes = [np.where(cost <= slowest, size, np.inf) for cost, size in zip(costs, sizes, strict=True)]
    emptiest = _search(sizes, np.maximum) or fastest
    fullest = max(_values(sizes, emptiest)) * _ROUNDING
    squares = [np.where(size <= fullest, cost**2, np.inf) for cost, size in zip(costs, sizes, strict=True)]
    return _search(squares, np.add) or emptiest


def _costs(layers: Layers, stages: int) -> list[np.ndarray]:
    """The time of each stage by first layer and end: infinite where there is no such stage."""
    count = len(layers.costs)
    sums = np.concatenate([[0.0], np.cumsum(layers.costs)])
    table = sums[None, :] - sums[:, None]
    table[0, :] += layers.embedding_cost
    table[:, count] += layers.head_cost
    table[np.tril_indices(count + 1)] = np.inf  # a stage has a layer
    return [table] * stages


def _sizes(layers: Layers, in_flight: Sequence[float]) -> list[np.ndarray]:
    """The bytes of each stage by first layer and end."""
    first, end = np.indices((len(layers.costs) + 1,) * 2)
    return [layers.bytes(first, end, held) for held in in_flight]


def _search(tables: Sequence[np.ndarray], combine: Callable[..., np.ndarray]) -> tuple[int, ...] | None:
    """The layers of each stage by which the combined values of all stages are least; None where all are infinite."""
    least = tables[0][0]
    begins = []
    for table in tables[1:]:
        reached = combine(least[:, None], table)
        begins.append(np.argmin(reached, axis=0))
        least = np.min(reached, axis=0)
    if not np.isfinite(least[-1]):
        return None
    ends = [len(least) - 1]
    for begin in reversed(begins):
        ends.append(int(begin[ends[-1]]))
    return tuple(end - start for start, end in pairwise([0, *reversed(ends)]))


def _values(tables: Sequence[np.ndarray], split: Sequence[int]) -> list[float]:
    """The value of each stage of a split."""
    ends = [0, *accumulate(split)]
    return [float(table[span]) for table, span in zip(tables, pairwise(ends), strict=True)]
