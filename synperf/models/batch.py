"""What one iteration runs: requests with new tokens, of prompts, of chunks of them, or one each in decode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import FieldError
from ..kernels.fields import refuse, same_length, set_numbers
from ..numeric import Number, is_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """`count` requests alike: numbers, or arrays of one length for many iterations at once.

    `q_len` new tokens of each, the last of `kv_len` tokens: those before are in the cache already. `samples` says
    whether the next token is drawn, which chunks of a prompt do not but for the last.

    Raises:
        FieldError: a field is no whole number from 1 on, or `kv_len` is below `q_len`.
    """

    count: Any = 1
    q_len: Any = 1
    kv_len: Any
    samples: bool = True

    def __post_init__(self) -> None:
        set_numbers(self, ("count", "q_len", "kv_len"))
        same_length(self, ("count", "q_len", "kv_len"))
        refuse(self.kv_len < self.q_len, "kv_len must not be below q_len, which is {}, got {}", self.q_len, self.kv_len)

    @property
    def tokens(self) -> Number:
        """New tokens of all of them."""
        return self.count * self.q_len

    @property
    def decodes(self) -> bool:
        """Whether each has one new token, as in decode."""
        return bool(self.q_len == 1) if type(self.q_len) is int else bool(np.all(self.q_len == 1))

    @property
    def size(self) -> int:
        """How many iterations the columns hold, 0 where all fields are numbers."""
        return next((len(one) for one in (self.count, self.q_len, self.kv_len) if is_array(one)), 0)


@dataclass(frozen=True)
class Batch:
    """The requests of one iteration of one group of ranks; each of the `dp` groups has such a one.

    Raises:
        FieldError: there are none, or their columns have several lengths.
    """

    requests: tuple[Requests, ...]

    def __post_init__(self) -> None:
        if not self.requests:
            raise FieldError("requests must have one or more, got none")
        sizes = sorted({one.size for one in self.requests if one.size})
        if len(sizes) > 1:
            raise FieldError(f"requests must have columns of one length, got {' and '.join(map(str, sizes))}")

    @cached_property
    def tokens(self) -> Number:
        """New tokens of all requests."""
        return sum(one.tokens for one in self.requests)

    @cached_property
    def sampled(self) -> Number:
        """Requests whose next token is drawn."""
        return sum(one.count for one in self.requests if one.samples)

    def prompts(self) -> tuple[Requests, ...]:
        """Requests with several new tokens."""
        return tuple(one for one in self.requests if not one.decodes)

    def decodes(self) -> tuple[Requests, ...]:
        """Requests with one new token each."""
        return tuple(one for one in self.requests if one.decodes)


def prefill(lengths: Sequence[int], cached: int = 0) -> Batch:
    """Prompts of these lengths, each after `cached` tokens that are in the cache already; alike ones together."""
    return Batch(tuple(
        Requests(count=count, q_len=length, kv_len=length + cached) for length, count in _counted(lengths)
    ))  # fmt: skip


def decode(lengths: Sequence[int]) -> Batch:
    """One new token for each request; `lengths` count it and the tokens before it."""
    return Batch(tuple(Requests(count=count, kv_len=length) for length, count in _counted(lengths)))


def _counted(lengths: Sequence[int]) -> list[tuple[int, int]]:
    return [(length, lengths.count(length)) for length in dict.fromkeys(lengths)]
