"""Requests in decode, all of which gain a token in each iteration of decode."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from .room import Room


class Decoding:
    """Counts by one clock, that of iterations of decode.

    A request has `phase` + clock tokens in the cache, and draws its last one at a clock that is known when it begins.
    """

    __slots__ = ("_end_of", "_ends", "_phase_of", "_phases", "_room", "clock")

    def __init__(self, room: Room) -> None:
        self.clock = 0
        self._room = room
        self._phases = 0  # the sum of all
        self._phase_of: dict[int, int] = {}
        self._end_of: dict[int, int] = {}
        self._ends: list[tuple[int, int]] = []  # a heap of (clock, request), those that were dropped among them

    def __len__(self) -> int:
        return len(self._end_of)

    def __contains__(self, request: int) -> bool:
        return request in self._end_of

    def mean_kv(self, iterations: int) -> float:
        """Tokens in the cache in the mean of all requests and of that many coming iterations, the new ones among them.

        Zero where no request is in decode.
        """
        count = len(self._end_of)
        return self._phases / count + self.clock + (iterations + 1) / 2 if count else 0.0

    def begin(self, request: int, tokens: int, left: int) -> None:
        """A request with `tokens` in the cache, and `left` more to draw."""
        phase, end = tokens - self.clock, self.clock + left
        self._phases += phase
        self._phase_of[request] = phase
        self._end_of[request] = end
        heappush(self._ends, (end, request))
        self._room.join(phase)

    def drop(self, request: int) -> int:
        """Takes a request out; its tokens in the cache."""
        phase = self._phase_of.pop(request)
        del self._end_of[request]
        self._phases -= phase
        self._room.leave(phase)
        return phase + self.clock

    def next_end(self) -> int:
        """The clock at which the next request draws its last token."""
        ends, end_of = self._ends, self._end_of
        while end_of.get(ends[0][1]) != ends[0][0]:
            heappop(ends)
        return ends[0][0]

    def finished(self) -> Iterator[int]:
        """Takes out the requests that have drawn their last token."""
        while self._end_of and self.next_end() == self.clock:
            request = heappop(self._ends)[1]
            self.drop(request)
            yield request
