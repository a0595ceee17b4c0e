"""What iterations of an engine cost before factors: seconds of kernels and messages, from a few hundred predictions.

Kernels that see new tokens alone are predicted for some numbers of tokens, the head for some numbers of requests that
draw a token, attention of decodes over requests and length, attention of chunks over their number, tokens and share of
the cache. Iterations are then read between these, thousands of them in a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..api import predict
from ..collectives import Collective
from ..estimators import Estimate
from ..hardware import GPU
from ..models import Batch, Entry, Model, Plan, Requests, calls, stages
from ..models.parts import BY_LENGTHS, BY_SAMPLED
from .iterations import Floats, Iterations
from .surface import Surface

_PER_DOUBLING = 6  # points of the grid of tokens: kernels step with them
_JUST_BEYOND = 65 / 64  # where the tiles of most experts have taken the step too
_LEAST_CHUNK = 2.0  # one new token is a decode
_SHARES = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 65.0, 257.0)  # tokens in the cache to new ones of a chunk
Bools = npt.NDArray[np.bool_]
KERNELS, DECODES, CHUNKS, MESSAGES = range(4)  # rows of what an iteration of a stage takes
Predict = Callable[[Any, GPU], Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The largest iterations that are asked about: new tokens, requests, and tokens of one in the cache."""

    tokens: int
    requests: int
    length: int


class StepCosts:
    """Costs of a model's iterations on the GPUs of a plan, of one of its `dp` groups and one micro-batch."""

    def __init__(
        self,
        model: Model,
        plan: Plan,
        gpu: GPU,
        extent: Extent,
        *,
        padded: Sequence[int] = (),
        origin: str | None = None,
    ) -> None:
        """`padded`: sizes that an engine pads batches of decodes to, for which it has CUDA graphs.

        Raises:
            FieldError: the plan does not go with the model.
            UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
        """
        self._padded = np.array(sorted(padded), dtype=float)
        estimate = partial(predict, origin=origin) if origin else predict
        spans = stages(model.num_layers, plan.pp)
        kinds = [(len(span), at == 0, at == plan.pp - 1) for at, span in enumerate(spans)]
        self._stages = {
            kind: _Stage(partial(calls, model, plan, stage=kinds.index(kind)), gpu, extent, estimate)
            for kind in dict.fromkeys(kinds)
        }
        self._order = kinds

    def columns(self, iterations: Iterations) -> Floats:
        """Rows of an iteration's costs, one of each run, in the order of `factors.ITERATION`.

        With several stages an iteration of one of the `pp` micro-batches takes as long as all stages, or as `pp` times
        the slowest, for which the others wait, where that is more.
        """
        parts = {kind: stage.seconds(iterations, self._padded) for kind, stage in self._stages.items()}
        total = sum((parts[kind] for kind in self._order), np.zeros((4, len(iterations))))
        if len(self._order) > 1:
            for found in parts.values():
                slowest = len(self._order) * found
                total = np.where(slowest.sum(axis=0) > total.sum(axis=0), slowest, total)
        return _arranged(iterations, total)

    def parts(self, iterations: Iterations) -> dict[Part, Floats]:
        """Seconds of each part in an iteration of each run, of all stages one after another."""
        found: dict[Part, Floats] = {}
        for kind in self._order:
            for part, seconds in self._stages[kind].parts(iterations, self._padded):
                found[part] = found.get(part, np.zeros(len(iterations))) + seconds
        return found

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the predictions rest on."""
        return tuple(dict.fromkeys(said for stage in self._stages.values() for said in stage.assumptions))


class Part(NamedTuple):
    """What a kernel or message of a pass is there for; `row` says which of the four costs it belongs to."""

    name: str
    family: str
    origin: str
    row: int


@dataclass(frozen=True, slots=True)
class _Table:
    """Seconds over some sizes: of each part, and of all together."""

    total: Surface | None
    parts: tuple[tuple[Part, Surface], ...]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Where in a table the iterations are, and which of them are there at all."""

    where: Bools
    sizes: tuple[Floats, ...]

    def read(self, surface: Surface | None) -> Floats:
        if surface is None or not np.any(self.where):
            return np.zeros(len(self.where))
        return np.where(self.where, surface.at(*(np.maximum(size, 1.0) for size in self.sizes)), 0.0)


def _arranged(iterations: Iterations, seconds: Floats) -> Floats:
    """Columns of `factors.ITERATION` from (kernels, attention of decodes, of chunks, messages)."""
    kernels, of_decodes, of_chunks, messages = seconds
    chunked = (iterations.chunks > 0).astype(float)
    alone = 1.0 - chunked
    decodes = iterations.decodes.astype(float)
    attention = of_decodes + of_chunks
    return np.stack([
        alone * kernels, alone * attention, chunked * kernels, chunked * attention, messages,
        alone, alone * decodes, chunked, chunked * decodes, iterations.prompt_tokens.astype(float),
    ], axis=1)  # fmt: skip


class _Stage:
    """Tables of one stage of the pipeline."""

    def __init__(self, run: Callable[[Batch], tuple[Entry, ...]], gpu: GPU, extent: Extent, estimate: Predict) -> None:
        self._run, self._gpu, self._extent, self._estimate = run, gpu, extent, estimate
        self.assumptions: tuple[str, ...] = ()
        tokens = _stepped(_grid(1, max(extent.tokens, extent.requests), _PER_DOUBLING))
        entries = self._run(Batch((Requests(count=tokens, kv_len=np.full(len(tokens), 64.0)),)))
        self._kernels = self._table([tokens], [e for e in entries if not _elsewhere(e)], KERNELS)
        self._messages = self._table([tokens], [e for e in entries if _is_message(e)], MESSAGES)
        self._head = self._table([tokens], [e for e in entries if e.part in BY_SAMPLED and not _is_message(e)], KERNELS)

    def seconds(self, iterations: Iterations, padded: Floats) -> Floats:
        """Rows of what an iteration of each run takes: kernels, attention of decodes, of chunks, messages."""
        found: Floats = np.zeros((4, len(iterations)))
        for row, table, at in self._read(iterations, padded):
            found[row] += at.read(table.total)
        return found

    def parts(self, iterations: Iterations, padded: Floats) -> Iterator[tuple[Part, Floats]]:
        """The same by part."""
        for _, table, at in self._read(iterations, padded):
            yield from ((part, at.read(surface)) for part, surface in table.parts)

    def _read(self, iterations: Iterations, padded: Floats) -> Iterator[tuple[int, _Table, _Sizes]]:
        decodes: Floats = iterations.decodes.astype(float)
        chunks: Floats = iterations.chunks.astype(float)
        run: Floats = np.where(chunks > 0, decodes, _up_to(padded, decodes))
        tokens: Floats = iterations.prompt_tokens + run
        drawn: Floats = iterations.first_tokens + run
        by_tokens = _Sizes(tokens > 0, (tokens,))
        yield KERNELS, self._kernels, by_tokens
        yield KERNELS, self._head, _Sizes(drawn > 0, (drawn,))
        yield MESSAGES, self._messages, by_tokens
        if np.any(decodes > 0):
            yield DECODES, self._of_decodes, _Sizes(decodes > 0, (decodes, iterations.decode_kv))
        if np.any(chunks > 0):
            yield CHUNKS, self._of_chunks, _Sizes(chunks > 0, (chunks, *_shape_of_chunks(iterations)))

    @cached_property
    def _of_decodes(self) -> _Table:
        requests, lengths = _grid(1, self._extent.requests, 2), _grid(16, self._extent.length, 1)
        counts, kv_lens = (axis.ravel() for axis in np.meshgrid(requests, lengths, indexing="ij"))
        return self._attention([requests, lengths], Requests(count=counts, kv_len=kv_lens), DECODES)

    @cached_property
    def _of_chunks(self) -> _Table:
        counts = _grid(1, min(self._extent.requests, self._extent.tokens // 2 + 1), 0.5)
        tokens = _grid(_LEAST_CHUNK, self._extent.tokens, 1)
        most = 2.0 * self._extent.length
        shares = np.array([share for share in _SHARES if share * _LEAST_CHUNK <= most])
        count, new, share = (axis.ravel() for axis in np.meshgrid(counts, tokens, shares, indexing="ij"))
        length = np.maximum(np.round(new / count), _LEAST_CHUNK)
        kept = np.maximum(length, np.minimum(np.round(length * share), most))
        return self._attention([counts, tokens, shares], Requests(count=count, q_len=length, kv_len=kept), CHUNKS)

    def _attention(self, axes: list[Floats], requests: Requests, row: int) -> _Table:
        return self._table(axes, [entry for entry in self._run(Batch((requests,))) if entry.part in BY_LENGTHS], row)

    def _table(self, axes: list[Floats], entries: Sequence[Entry], row: int) -> _Table:
        shape = [len(axis) for axis in axes]
        seconds: dict[Part, Floats] = {}
        for entry in entries:
            found = self._estimate(entry.call, self._gpu)
            self.assumptions = tuple(dict.fromkeys((*self.assumptions, *found.assumptions)))
            part = Part(entry.part, found.family, _origin(found), row)
            taken = entry.count * np.broadcast_to(found.time_s, int(np.prod(shape))).reshape(shape)
            seconds[part] = seconds[part] + taken if part in seconds else taken
        if not seconds:
            return _Table(None, ())
        total = Surface(axes, np.sum(list(seconds.values()), axis=0))
        return _Table(total, tuple((part, Surface(axes, taken)) for part, taken in seconds.items()))


def _origin(found: Estimate) -> str:
    """The estimator of a column; of most of its rows, where they differ."""
    if isinstance(found.origin, str):
        return found.origin
    names, counts = np.unique(found.origin.astype(str), return_counts=True)
    return str(names[counts.argmax()])


def _elsewhere(entry: Entry) -> bool:
    """Whether an entry is in another table than that of kernels by new tokens."""
    return entry.part in BY_LENGTHS or entry.part in BY_SAMPLED or _is_message(entry)


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.call, Collective)


def _shape_of_chunks(iterations: Iterations) -> tuple[Floats, Floats]:
    """New tokens of all chunks, and tokens in the cache to these: as many as have the same pairs in alike chunks."""
    tokens = np.maximum(iterations.prompt_tokens, 1).astype(float)
    length = tokens / np.maximum(iterations.chunks, 1)
    before = np.maximum(iterations.chunk_pairs / tokens - length / 2, 0.0)
    return tokens, 1.0 + before / length


def _grid(least: float, most: float, per_doubling: float) -> Floats:
    """Whole sizes from the least on until the largest is within, so many for each doubling."""
    most = max(most, least * 2)
    steps = int(np.ceil(np.log2(most / least) * per_doubling)) + 1
    return np.unique(np.round(np.geomspace(least, most, steps)))


def _stepped(grid: Floats) -> Floats:
    """The grid, and points on both sides of each power of two, where tiles and kernels change."""
    powers = np.exp2(np.arange(np.floor(np.log2(grid[-1])) + 1))
    beyond = np.minimum((powers + 1, np.ceil(powers * _JUST_BEYOND)), grid[-1])
    return np.unique(np.concatenate((grid, powers, *beyond)))


def _up_to(sizes: Floats, values: Floats) -> Floats:
    """Each value, or the next of the sizes that it is padded to, where one is large enough."""
    if not len(sizes):
        return values
    at = np.searchsorted(sizes, values)
    padded = np.where(at < len(sizes), sizes[np.minimum(at, len(sizes) - 1)], values)
    return np.where(values > 0, padded, 0.0)
