"""What one stage of a pipeline takes for an iteration, read between a few hundred predictions.

Kernels that see new tokens alone are predicted for some numbers of tokens, the head for some numbers of requests that
draw a token, attention of decodes over requests and length, attention of chunks over their number, tokens and share of
the cache.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..collectives import Collective
from ..hardware import GPU
from ..models import Batch, Entry, Requests
from ..models.parts import BY_LENGTHS, BY_SAMPLED
from ..numeric import Number, is_array, maximum, where
from .answer import ATTENTION, COLLECTIVES, KERNELS
from .in_step import Predict
from .iterations import Floats, Iterations, Run
from .most import most
from .surface import Surface

_PER_DOUBLING = 6  # points of the grid of tokens: kernels step with them
_JUST_BEYOND = 65 / 64  # where the tiles of most experts have taken the step too
_LEAST_CHUNK = 2.0  # one new token is a decode
_SHARES = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 65.0, 257.0)  # tokens in the cache to new ones of a chunk
_KERNELS, _DECODES, _CHUNKS, _MESSAGES = range(4)
_KINDS = (KERNELS, ATTENTION, ATTENTION, COLLECTIVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The largest iterations that are asked about: new tokens, requests, and tokens of one in the cache."""

    tokens: int
    requests: int
    length: int


class Part(NamedTuple):
    """What a kernel or message of a pass is there for; `kind` is that of `answer.Share`."""

    name: str
    family: str
    origin: str
    kind: str
    limiter: str


@dataclass(frozen=True, slots=True)
class _Table:
    """Seconds over some sizes: of each part, and of all together."""

    total: Surface | None
    parts: tuple[tuple[Part, Surface], ...]


class _Place(NamedTuple):
    """Where in a table iterations are, and whether they are there at all."""

    is_there: Any
    sizes: tuple[Number, ...]

    def read(self, surface: Surface | None) -> Number:
        """Seconds; 0 of what is not there."""
        if surface is None or not np.any(self.is_there):
            return 0.0
        return where(self.is_there, surface.at(*(maximum(size, 1.0) for size in self.sizes)), 0.0)


class StageCosts:
    """Tables of one stage. What is asked of them is a run, or columns of many."""

    def __init__(
        self, run: Callable[[Batch], tuple[Entry, ...]], gpu: GPU, extent: Extent, padded: Sequence[int],
        estimate: Predict,
    ) -> None:  # fmt: skip
        """`run` gives the calls of a batch; decodes alone are `padded` to the next of these sizes."""
        self._run, self._gpu, self._extent, self._estimate = run, gpu, extent, estimate
        self._padded = sorted(padded)
        self.assumptions: tuple[str, ...] = ()
        tokens = _stepped(_grid(1, max(extent.tokens, extent.requests), _PER_DOUBLING))
        entries = run(Batch((Requests(count=tokens, kv_len=np.full(len(tokens), 64.0)),)))
        self._kernels = self._table([tokens], [e for e in entries if not _is_elsewhere(e)], _KERNELS)
        self._messages = self._table([tokens], [e for e in entries if _is_message(e)], _MESSAGES)
        head = [e for e in entries if e.part in BY_SAMPLED and not _is_message(e)]
        self._head = self._table([tokens], head, _KERNELS)

    def seconds(self, batch: Iterations | Run) -> list[Number]:
        """What an iteration takes: kernels, attention of decodes, of chunks, messages."""
        found: list[Number] = [0.0] * len(_KINDS)
        for row, table, place in self._places(batch):
            found[row] = found[row] + place.read(table.total)
        return found

    def parts(self, batch: Iterations | Run) -> Iterator[tuple[Part, Number]]:
        """The same by part."""
        for _, table, place in self._places(batch):
            yield from ((part, place.read(surface)) for part, surface in table.parts)

    def _places(self, batch: Any) -> Iterator[tuple[int, _Table, _Place]]:
        decodes, chunks = 1.0 * batch.decodes, 1.0 * batch.chunks
        run = where(chunks > 0, decodes, _up_to(self._padded, decodes))
        tokens, drawn = batch.prompt_tokens + run, batch.first_tokens + run
        yield _KERNELS, self._kernels, _Place(tokens > 0, (tokens,))
        yield _KERNELS, self._head, _Place(drawn > 0, (drawn,))
        yield _MESSAGES, self._messages, _Place(tokens > 0, (tokens,))
        if np.any(decodes > 0):
            yield _DECODES, self._of_decodes, _Place(decodes > 0, (decodes, 1.0 * batch.decode_kv))
        if np.any(chunks > 0):
            yield _CHUNKS, self._of_chunks, _Place(chunks > 0, (chunks, *_shape_of_chunks(batch)))

    @cached_property
    def _of_decodes(self) -> _Table:
        requests, lengths = _grid(1, self._extent.requests, 2), _grid(16, self._extent.length, 1)
        counts, kv_lens = (axis.ravel() for axis in np.meshgrid(requests, lengths, indexing="ij"))
        return self._attention([requests, lengths], Requests(count=counts, kv_len=kv_lens), _DECODES)

    @cached_property
    def _of_chunks(self) -> _Table:
        counts = _grid(1, min(self._extent.requests, self._extent.tokens // 2 + 1), 0.5)
        tokens = _grid(_LEAST_CHUNK, self._extent.tokens, 1)
        most = 2.0 * self._extent.length
        shares = np.array([share for share in _SHARES if share * _LEAST_CHUNK <= most])
        count, new, share = (axis.ravel() for axis in np.meshgrid(counts, tokens, shares, indexing="ij"))
        length = np.maximum(np.round(new / count), _LEAST_CHUNK)
        kept = np.maximum(length, np.minimum(np.round(length * share), most))
        return self._attention([counts, tokens, shares], Requests(count=count, q_len=length, kv_len=kept), _CHUNKS)

    def _attention(self, axes: list[Floats], requests: Requests, row: int) -> _Table:
        return self._table(axes, [entry for entry in self._run(Batch((requests,))) if entry.part in BY_LENGTHS], row)

    def _table(self, axes: list[Floats], entries: Sequence[Entry], row: int) -> _Table:
        shape = [len(axis) for axis in axes]
        seconds: dict[Part, Floats] = {}
        for entry in entries:
            found = self._estimate(entry.call, self._gpu)
            self.assumptions = tuple(dict.fromkeys((*self.assumptions, *found.assumptions)))
            part = Part(entry.part, found.family, most(found.origin), _KINDS[row], most(found.limiter))
            taken = entry.count * np.broadcast_to(found.time_s, int(np.prod(shape))).reshape(shape)
            seconds[part] = seconds[part] + taken if part in seconds else taken
        if not seconds:
            return _Table(None, ())
        total = Surface(axes, np.sum(list(seconds.values()), axis=0))
        return _Table(total, tuple((part, Surface(axes, taken)) for part, taken in seconds.items()))


def _is_elsewhere(entry: Entry) -> bool:
    """Whether an entry is in another table than that of kernels by new tokens."""
    return entry.part in BY_LENGTHS or entry.part in BY_SAMPLED or _is_message(entry)


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.call, Collective)


def _shape_of_chunks(batch: Any) -> tuple[Number, Number]:
    """New tokens of all chunks, and tokens in the cache to these: as many as have the same pairs in alike chunks."""
    tokens = maximum(1.0 * batch.prompt_tokens, 1.0)
    length = tokens / maximum(1.0 * batch.chunks, 1.0)
    before = maximum(batch.chunk_pairs / tokens - length / 2, 0.0)
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


def _up_to(sizes: Sequence[float], value: Number) -> Number:
    """A value, or the next of the sizes that it is padded to, where one is large enough; 0 stays 0."""
    if not sizes:
        return value
    if not is_array(value):
        at = bisect_left(sizes, value)
        return float(sizes[at]) if value and at < len(sizes) else value
    places = np.searchsorted(sizes, value)
    padded = np.where(places < len(sizes), np.take(sizes, np.minimum(places, len(sizes) - 1)), value)
    return np.where(value > 0, padded, 0.0)
