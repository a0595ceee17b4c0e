"""Continuous batching, from event to event: stretches of decode are one step each, however long they are.

Requests are admitted in order of arrival while there are seats, room for their whole prompts, and tokens left of the
budget. In decode every request gains a token in each iteration. Where these outgrow the room, the request that was
admitted last loses its cache and goes back to the head of the queue, with the tokens that it has drawn as part of its
prompt; only a prefix that was in the cache when it came is there again.
"""

from __future__ import annotations

from functools import partial

from ..errors import FieldError
from .arrivals import Arrivals
from .clock import Seconds, cut
from .decoding import Decoding
from .iterations import Iterations, Run, Served
from .journal import Journal
from .policy import Policy
from .prompts import Chunks, Prompts
from .room import Room


def serve(
    arrivals: Arrivals, policy: Policy, *, max_tokens: int | None = None, seconds: Seconds | None = None
) -> tuple[Iterations, Served]:
    """What an engine runs until all requests are served, and when each of them was.

    `max_tokens` is the room in the cache, None without end. `seconds` are needed where requests come by the clock after
    its zero; the schedule of others does not depend on time.

    Raises:
        FieldError: a request can never fit, or there are too many iterations.
    """
    _check_room(arrivals, policy, max_tokens)
    loop = _Loop(arrivals, policy, Room(max_tokens, policy.block_tokens), seconds)
    while loop.unserved:
        loop.run()
    return loop.journal.results()


def _check_room(arrivals: Arrivals, policy: Policy, max_tokens: int | None) -> None:
    if max_tokens is None:
        return
    most = max_tokens // policy.block_tokens * policy.block_tokens
    needs = arrivals.isl + arrivals.osl - 1  # the last token is never read
    if len(needs) and needs.max() > most:
        i = int((needs > most).argmax())
        raise FieldError(
            f"request {i + 1} (isl {arrivals.isl[i]}, osl {arrivals.osl[i]}) can never fit: it needs {needs[i]} tokens "
            f"of the cache, which has room for {most} in blocks of {policy.block_tokens}"
        )


class _Loop:
    """An engine between two runs of iterations."""

    def __init__(self, arrivals: Arrivals, policy: Policy, room: Room, seconds: Seconds | None) -> None:
        self.journal = Journal(arrivals, seconds)
        self.unserved = len(arrivals)
        self._isl, self._osl = arrivals.isl.tolist(), arrivals.osl.tolist()
        self._prompts = Prompts(self._isl, arrivals.cached.tolist(), room, policy.chunked)
        self._decoding = Decoding(room)
        self._room, self._seconds = room, seconds
        self._arrivals_s = arrivals.arrived_s[: arrivals.clocked].tolist()
        self._come = 0  # requests that have arrived
        self._mixed = policy.order == "mixed"
        self._budget = policy.token_budget
        self._seats = min(policy.max_requests, policy.token_budget)  # a request in decode takes a token of the budget
        assert seconds is not None or not any(self._arrivals_s)

    def run(self) -> None:
        """Goes to the end of the next run, or to the next arrival where there is nothing to do."""
        self._arrive()
        beside = len(self._decoding) if self._mixed else 0
        if beside:
            self._make_room()
            beside = len(self._decoding)
        chunks = self._take(beside)
        if chunks.count:
            self._run_chunks(chunks, 0 if chunks.alone else beside)
        elif self._decoding:
            self._run_decodes()
        else:
            self.journal.now_s = self._arrivals_s[self._come]

    def _arrive(self) -> None:
        """Puts requests into the queue that have come by the clock."""
        come, times, now_s = self._come, self._arrivals_s, self.journal.now_s
        while come < len(times) and times[come] <= now_s:
            self._prompts.waiting.append(come)
            come += 1
        self._come = come

    def _take(self, beside: int) -> Chunks:
        """Chunks of an iteration in which `beside` requests draw a token of decode."""
        clock = self._decoding.clock + (1 if beside else 0)
        return self._prompts.take(self._budget - beside, self._seats - len(self._decoding), clock)

    def _make_room(self) -> None:
        """Takes their caches from the requests that were admitted last, until all others can draw a token."""
        prompts, decoding = self._prompts, self._decoding
        while self._room.last(decoding.clock, decoding.clock + 1) == decoding.clock:
            request = prompts.admitted.pop()
            in_decode = request in decoding
            if in_decode:
                prompts.tokens[request] = decoding.drop(request) + 1  # the last one drawn is not in the cache
            elif request == prompts.part:
                prompts.drop_part()
            else:
                continue  # it is completed
            prompts.waiting.appendleft(request)
            self.journal.lost(request, in_decode)

    def _run_chunks(self, chunks: Chunks, decodes: int) -> None:
        kv = self._decoding.mean_kv(1) if decodes else 0.0
        self.journal.run(Run(1, chunks.count, chunks.tokens, len(chunks.ended), chunks.pairs, chunks.kv, decodes, kv))
        if decodes:
            self._decoding.clock += 1
        self._complete()
        for request in chunks.ended:
            self._begin(request)

    def _begin(self, request: int) -> None:
        """A prompt has ended, and a token is drawn."""
        self.journal.prompt_ended(request)
        tokens = self._prompts.tokens[request]
        left = self._isl[request] + self._osl[request] - 1 - tokens
        if left:
            self._decoding.begin(request, tokens, left)
        else:
            self._done(request)

    def _run_decodes(self) -> None:
        """Decodes until one is done, the room is used up, or a request comes that can be admitted."""
        if not self._mixed:
            self._make_room()
        clock = self._decoding.clock
        run = partial(_decodes, self._decoding)
        iterations = self._room.last(clock, self._decoding.next_end()) - clock
        if self._seconds is not None and self._admits():
            gap_s = self._arrivals_s[self._come] - self.journal.now_s
            iterations = cut(run, iterations, gap_s, self._seconds)
        self.journal.run(run(iterations))
        self._decoding.clock += iterations
        self._complete()

    def _admits(self) -> bool:
        """Whether a request that comes next could begin before another ends."""
        is_next = self._come < len(self._arrivals_s) and not self._prompts.waiting
        return is_next and len(self._decoding) < self._seats

    def _complete(self) -> None:
        for request in self._decoding.finished():
            self._done(request)

    def _done(self, request: int) -> None:
        """A request is completed; in a closed loop the next one comes."""
        self.journal.completed(request)
        self.unserved -= 1
        if self._come >= len(self._arrivals_s) and self._come < len(self._isl):
            self._prompts.waiting.append(self._come)
            self.journal.released(self._come)
            self._come += 1


def _decodes(decoding: Decoding, iterations: int) -> Run:
    return Run(iterations, 0, 0, 0, 0, 0, len(decoding), decoding.mean_kv(iterations))
