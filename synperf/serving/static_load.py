"""Static batches: requests that all come at once, and leave one after another when their answers are complete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..errors import FieldError
from ..kernels.fields import refuse, same_length, set_numbers, whole
from ..models import Batch, Requests, decode
from ..numeric import Number, ceil_div, floor, is_array, maximum

_NODES = (0.5 - 12**-0.5, 0.5 + 12**-0.5)  # of Gauss and Legendre, over the steps of a span: two are exact for cubics
_MOST_SPANS = 8  # of requests that leave at other times; the middle of each stands for it


class Span(NamedTuple):
    """Decode steps with the same requests: how many, and the batches of single steps that stand for all alike."""

    steps: Number
    batches: tuple[Batch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """`batch` requests of `isl` tokens, the first `cached` of them in the cache, that are answered with `osl` tokens.

    Numbers, or columns of one length for many loads at once.

    Raises:
        FieldError: a field is no whole number from 1 on (`cached`: from 0), or `cached` leaves nothing of the prompt.
    """

    batch: Any = 1
    isl: Any
    osl: Any = 1
    cached: Any = 0

    def __post_init__(self) -> None:
        set_numbers(self, ("batch", "isl", "osl"))
        if is_array(self.cached) or self.cached != 0:
            set_numbers(self, ("cached",))
        same_length(self, ("batch", "isl", "osl", "cached"))
        refuse(self.cached >= self.isl, "cached must be below isl, which is {}, got {}", self.isl, self.cached)

    @property
    def steps(self) -> Number:
        """Decode steps."""
        return self.osl - 1

    def prompts(self, groups: int, token_budget: int | None) -> list[Batch]:
        """The iterations with prompts, of the fullest of `groups` groups of ranks.

        Raises:
            FieldError: there is a budget, and the load has columns.
        """
        count = _share(self.batch, groups)
        if token_budget is None:
            return [Batch((Requests(count=count, q_len=self.isl - self.cached, kv_len=self.isl),))]
        if any(is_array(value) for value in (self.batch, self.isl, self.cached)):
            raise FieldError("token_budget: it is for one load at a time; right would be none for columns")
        each = Listed(isl=[self.isl] * int(count), osl=1, cached=self.cached)
        return each.prompts(1, token_budget)

    def spans(self, groups: int) -> list[Span]:
        """The decode steps of the fullest group."""
        count = _share(self.batch, groups)
        lengths = [self.isl + 1 + floor(at * maximum(self.steps, 1)) for at in _NODES]
        return [Span(self.steps, tuple(Batch((Requests(count=count, kv_len=_whole(kv)),)) for kv in lengths))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Requests of lengths of their own: lists with a value for each, of which `osl` and `cached` may be one for all.

    Raises:
        FieldError: as `Uniform`; or the lists have several lengths.
    """

    isl: Sequence[int]
    osl: Sequence[int] | int = 1
    cached: Sequence[int] | int = 0

    def __post_init__(self) -> None:
        count = len(self.isl)
        if not count:
            raise FieldError("isl must have a length for each request, got none")
        for name in ("isl", "osl", "cached"):
            object.__setattr__(self, name, _listed(name, getattr(self, name), count))
        for at, (isl, cached) in enumerate(zip(self.isl, self._list("cached"), strict=True)):
            if cached >= isl:
                raise FieldError(f"cached[{at}] must be below isl, which is {isl}, got {cached}")

    def _list(self, name: str) -> tuple[int, ...]:
        found: tuple[int, ...] = getattr(self, name)
        return found

    @property
    def steps(self) -> int:
        """Decode steps until the last request has its answer."""
        return max(self._list("osl")) - 1

    def prompts(self, groups: int, token_budget: int | None) -> list[Batch]:
        """The iterations with prompts, in order, of the fullest of `groups` groups of ranks."""
        waiting = [(isl - cached, isl) for isl, _, cached in self._of_group(groups)]
        if token_budget is None:
            return [Batch(tuple(_alike(waiting, samples=True)))]
        return list(_chunked(waiting, token_budget))

    def spans(self, groups: int) -> list[Span]:
        """The decode steps of the fullest group: those with the same requests, or nearly so where there are many."""
        requests = [(isl, osl) for isl, osl, _ in self._of_group(groups) if osl > 1]
        ends = np.array(sorted({osl - 1 for _, osl in requests}), dtype=int)
        if len(ends) > _MOST_SPANS:
            ends = np.unique(np.ceil(np.linspace(0, ends[-1], _MOST_SPANS + 1)[1:]).astype(int))
        return [_span(requests, int(first), int(last)) for first, last in pairwise((0, *ends))]

    def _of_group(self, groups: int) -> list[tuple[int, int, int]]:
        """(isl, osl, cached) of the requests of the fullest group, the longest of all first dealt to it."""
        every = list(zip(self.isl, self._list("osl"), self._list("cached"), strict=True))
        return every if groups == 1 else sorted(every, reverse=True)[::groups]


def _span(requests: list[tuple[int, int]], first: int, last: int) -> Span:
    """Steps first + 1 to last; where requests leave between, those that are there in its middle stand for all."""
    middle = (first + last + 1) / 2
    running = [isl for isl, osl in requests if osl - 1 >= middle] or [max(requests, key=lambda one: one[1])[0]]
    at = dict.fromkeys(first + 1 + int(node * (last - first)) for node in _NODES)
    return Span(last - first, tuple(decode([isl + step for isl in running]) for step in at))


def _chunked(waiting: list[tuple[int, int]], budget: int) -> Iterator[Batch]:
    """Prompts in order, cut so that no iteration has more new tokens than the budget."""
    whole("token_budget", budget)
    drawn: list[tuple[int, int]] = []
    chunks: list[tuple[int, int]] = []
    left = budget
    for new, length in waiting:
        done = length - new
        while done < length:
            taken = min(left, length - done)
            done, left = done + taken, left - taken
            (drawn if done == length else chunks).append((taken, done))
            if not left:
                yield _batch(drawn, chunks)
                left, drawn, chunks = budget, [], []
    if drawn or chunks:
        yield _batch(drawn, chunks)


def _batch(drawn: list[tuple[int, int]], chunks: list[tuple[int, int]]) -> Batch:
    return Batch((*_alike(drawn, samples=True), *_alike(chunks, samples=False)))


def _alike(prompts: list[tuple[int, int]], *, samples: bool) -> Iterator[Requests]:
    """(new tokens, tokens after them) of prompts, those that are alike together."""
    for new, length in dict.fromkeys(prompts):
        yield Requests(count=prompts.count((new, length)), q_len=new, kv_len=length, samples=samples)


def _listed(name: str, given: Sequence[int] | int, count: int) -> tuple[int, ...]:
    """A whole number for each request, 0 for `cached` too."""
    values = [given] * count if isinstance(given, int) else list(given)
    if len(values) != count:
        raise FieldError(f"{name} must have a value for each of the {count} requests, got {len(values)}")
    return tuple(
        0 if name == "cached" and value == 0 else int(whole(f"{name}[{at}]", value)) for at, value in enumerate(values)
    )


def _share(batch: Number, groups: int) -> Number:
    return _whole(ceil_div(batch, groups)) if groups > 1 else batch


def _whole(value: Number) -> Number:
    return value if is_array(value) else int(value)
