"""What an engine runs while it serves: its iterations as columns, one row for a run of them that are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Iterations:
    """Runs of iterations in order of time; columns of one length.

    A run is `repeats` iterations of one batch, in which every request in decode gains a token each time. In each
    iteration `chunks` requests have new tokens of their prompts, `prompt_tokens` in all; `first_tokens` of these end
    with it and draw their first token. `chunk_pairs` is the sum over them of pairs of a query and a key that it sees,
    and `chunk_kv` of keys in the cache after it. `decodes` requests draw one more token, after `decode_kv` tokens in
    the mean of all of them and of all iterations of the run, the new one among them. Iterations with chunks are never
    repeated.
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


@dataclass(frozen=True, slots=True)
class Served:
    """Requests that have been served, in order of arrival; columns of one length.

    `isl` and `osl` are tokens of the prompt and of the answer. `released_by` is the run of `Iterations` at whose end
    the request came (-1 where it came by the clock, at `arrived_s`); `first` and `last` are the runs at whose ends it
    had its first and its last token.
    """

    isl: Integers
    osl: Integers
    arrived_s: Floats
    released_by: Integers
    first: Integers
    last: Integers
    preempted: Integers  # times that it lost its cache for want of room

    def __len__(self) -> int:
        return len(self.isl)
