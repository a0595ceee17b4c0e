"""Requests whose prompts wait or are in part in the cache, and which chunks of them an iteration runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from .room import Room


class Chunks:
    """New tokens of prompts in one iteration, as `Iterations` counts them; `ended` are requests whose prompts end.

    `alone` says that there is one which is longer than the budget and may not be cut.
    """

    __slots__ = ("alone", "count", "ended", "kv", "pairs", "tokens")

    def __init__(self) -> None:
        self.count = self.tokens = self.pairs = self.kv = 0
        self.ended: list[int] = []
        self.alone = False

    def add(self, before: int, tokens: int) -> None:
        """One chunk, after `before` tokens that are in the cache."""
        self.count += 1
        self.tokens += tokens
        self.pairs += tokens * before + tokens * (tokens + 1) // 2
        self.kv += before + tokens


class Prompts:
    """Prompts in order; at most the first is in part in the cache.

    `tokens` of a request are those of its prompt, and after it has lost its cache those that it had drawn too.
    """

    __slots__ = ("_cached", "_chunked", "_done", "_room", "admitted", "part", "tokens", "waiting")

    def __init__(self, isl: Sequence[int], cached: Sequence[int], room: Room, chunked: bool) -> None:
        self.tokens = list(isl)
        self.waiting: deque[int] = deque()
        self.part: int | None = None
        self.admitted: list[int] = []  # in order; those that are completed too
        self._cached, self._room, self._chunked = cached, room, chunked
        self._done = 0  # tokens of `part` that are in the cache

    def take(self, budget: int, seats: int, clock: int) -> Chunks:
        """The chunks of an iteration of so many new tokens, with that many more requests, while decode is at `clock`.

        Requests whose prompts end have given back what these held.
        """
        chunks = Chunks()
        if self.part is not None:
            self._cut(chunks, self.part, budget)
        while self.waiting and self.part is None and chunks.tokens < budget and len(chunks.ended) < seats:
            request = self.waiting[0]
            over = not self._chunked and self.tokens[request] - self._cached[request] > budget - chunks.tokens
            if (over and chunks.count) or not self._room.fits(self.tokens[request], clock):
                break
            self._admit(request)
            chunks.alone = over
            self._cut(chunks, request, self.tokens[request] if over else budget)
        for request in chunks.ended:
            self._room.release(self.tokens[request])
        return chunks

    def drop_part(self) -> int:
        """Takes the request out whose prompt is in part in the cache.

        What was of it is lost; how many tokens it has stays.
        """
        assert self.part is not None
        request, self.part = self.part, None
        self._room.release(self.tokens[request])
        return request

    def _admit(self, request: int) -> None:
        self.waiting.popleft()
        self.admitted.append(request)
        self._room.hold(self.tokens[request])
        self._done = self._cached[request]

    def _cut(self, chunks: Chunks, request: int, budget: int) -> None:
        left = self.tokens[request] - self._done
        tokens = min(left, budget - chunks.tokens)
        chunks.add(self._done, tokens)
        self._done += tokens
        self.part = request if tokens < left else None
        if tokens == left:
            chunks.ended.append(request)
