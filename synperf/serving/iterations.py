"""What an engine runs while it serves: its iterations as columns, one row for a run of them that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Run(NamedTuple):
    """One row of `Iterations`, which says what the fields are."""

    repeats: int
    chunks: int
    prompt_tokens: int
    first_tokens: int
    chunk_pairs: float
    chunk_kv: float
    decodes: int
    decode_kv: float


@dataclass(frozen=True, slots=True)
class Iterations:
    """Runs of iterations in order of time; columns of one length.

    A run is `repeats` iterations of one batch, in which every request in decode gains a token each time. In each
    iteration `chunks` requests have new tokens of their prompts, `prompt_tokens` in all; `first_tokens` of these
    prompts end with it and draw a token: the first of the request, or the next where it had lost its cache.
    `chunk_pairs` is the sum over chunks of pairs of a query and a key that it sees, and `chunk_kv` of keys in the cache
    after it. `decodes` requests draw one more token, after `decode_kv` tokens in the mean of all of them and of all
    iterations of the run, the new one among them. Iterations with chunks are never repeated.
    """

    repeats: Integers
    chunks: Integers
    prompt_tokens: Integers
    first_tokens: Integers
    chunk_pairs: Floats
    chunk_kv: Floats
    decodes: Integers
    decode_kv: Floats

    def __len__(self) -> int:
        return len(self.repeats)

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Iterations:
        """Rows as columns."""
        kinds = (np.float64 if one.type == "Floats" else np.int64 for one in fields(cls))
        rows = zip(*runs, strict=True) if runs else ((),) * len(Run._fields)
        columns: list[Any] = [np.array(row, dtype=kind) for row, kind in zip(rows, kinds, strict=True)]
        return cls(*columns)


@dataclass(frozen=True, slots=True)
class Served:
    """Requests that have been served, in order of arrival; columns of one length but for `stalls`.

    `isl` and `osl` are tokens of the prompt and of the answer. `released_by` is the run of `Iterations` at whose end
    the request came (-1 where it came by the clock, at `arrived_s`); `first` and `last` are the runs at whose ends it
    had its first and its last token. `stalls` has a row for each time that a request lost its cache between two tokens:
    the request, and the runs at whose ends it had the one and the other.
    """

    isl: Integers
    osl: Integers
    arrived_s: Floats
    released_by: Integers
    first: Integers
    last: Integers
    preempted: Integers  # times that it lost its cache for want of room
    stalls: Integers = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.isl)
