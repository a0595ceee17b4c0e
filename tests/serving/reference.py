"""Continuous batching one iteration at a time, with a look at every request: slow, and as its rules are told."""

from dataclasses import dataclass, field

import numpy as np

from synperf.serving.arrivals import Arrivals


@dataclass
class Request:
    isl: int
    osl: int
    cached: int
    drawn: int = 0
    tokens: int = 0  # in the cache
    prompt: int = 0  # tokens that must be in the cache before one is drawn
    first: float = -1
    last: float = -1
    released_by: int = -1
    preempted: int = 0
    draws: list[int] = field(default_factory=list)  # iterations at whose ends tokens were drawn

    @property
    def decodes(self):
        return self.tokens >= self.prompt


def reference(arrivals, policy, max_tokens=None, seconds=None):
    """(iterations, requests): of each iteration its chunks as (new tokens, tokens before), those whose prompts end, and
    the tokens in the caches of requests in decode."""
    requests = [
        Request(isl=i, osl=o, cached=c, prompt=i)
        for i, o, c in zip(arrivals.isl.tolist(), arrivals.osl.tolist(), arrivals.cached.tolist(), strict=True)
    ]
    times = arrivals.arrived_s[: arrivals.clocked].tolist()
    seats = min(policy.max_requests, policy.token_budget)
    blocks = None if max_tokens is None else max_tokens // policy.block_tokens
    waiting, running, iterations = [], [], []
    come, now = 0, 0.0

    def size(tokens):
        return -(-tokens // policy.block_tokens)

    def room(growth):
        """Blocks left where those in decode grow by so many tokens."""
        taken = sum(size(r.tokens + growth) if r.decodes else size(r.prompt) for r in running)
        return float("inf") if blocks is None else blocks - taken

    def preempt():
        lost = False
        while room(1) < 0:
            victim = running.pop()
            if victim.decodes:
                victim.prompt = victim.isl + victim.drawn
            victim.tokens, victim.preempted = 0, victim.preempted + 1
            waiting.insert(0, victim)
            lost = True
        return lost

    def chunks_of(budget, growth, may_admit):
        chunks, alone = [], False
        for r in running:
            if not r.decodes and budget:
                tokens = min(budget, r.prompt - r.tokens)
                chunks.append((r, tokens))
                budget -= tokens
        whole = all(r.tokens + tokens == r.prompt for r, tokens in chunks)
        while may_admit and whole and waiting and budget > 0 and len(running) < seats:
            r = waiting[0]
            new = r.prompt - r.cached
            alone = not policy.chunked and new > budget
            if (alone and chunks) or room(growth) < size(r.prompt):
                return chunks, False
            running.append(waiting.pop(0))
            r.tokens = r.cached
            tokens = new if alone else min(new, budget)
            chunks.append((r, tokens))
            budget -= tokens
            whole = tokens == new
        return chunks, alone

    while any(r.last < 0 for r in requests):
        while come < len(times) and times[come] <= now:
            waiting.append(requests[come])
            come += 1
        decoders = [r for r in running if r.decodes]
        if policy.order == "mixed":
            lost = bool(decoders) and preempt()
            decoders = [r for r in running if r.decodes]
            chunks, alone = chunks_of(policy.token_budget - len(decoders), 1, not lost)
            if alone:
                decoders = []
        else:
            chunks, _ = chunks_of(policy.token_budget, 0, True)
            if chunks:
                decoders = []
            elif decoders:
                preempt()
                decoders = [r for r in running if r.decodes]
        if not chunks and not decoders:
            now = times[come]
            continue
        at = len(iterations)
        row = {
            "chunks": [(tokens, r.tokens) for r, tokens in chunks],
            "ended": sum(r.tokens + tokens == r.prompt for r, tokens in chunks),
            "decodes": [r.tokens + 1 for r in decoders],
            "starts": now,
            "running": len(running),
            "free": room(0),
        }
        iterations.append(row)
        now += seconds(row) if seconds else 0.0
        row["ends"] = now
        drawing = decoders + [r for r, tokens in chunks if r.tokens + tokens == r.prompt]
        for r in decoders:
            r.tokens += 1
        for r, tokens in chunks:
            r.tokens += tokens
        for r in drawing:
            r.drawn += 1
            r.draws.append(at)
            r.first = at if r.first < 0 else r.first
            if r.drawn == r.osl:
                r.last = at
                running.remove(r)
                if come >= len(times) and come < len(requests):
                    requests[come].released_by = at
                    waiting.append(requests[come])
                    come += 1
    return iterations, requests


def expanded(iterations):
    """Columns of `Iterations`, a row for each iteration; `decode_kv` times `decodes` as a sum."""
    rows = []
    for i in range(len(iterations)):
        repeats, n = int(iterations.repeats[i]), int(iterations.decodes[i])
        first = (iterations.decode_kv[i] - (repeats - 1) / 2) * n
        for step in range(repeats):
            rows.append(
                (
                    int(iterations.chunks[i]),
                    int(iterations.prompt_tokens[i]),
                    int(iterations.first_tokens[i]),
                    float(iterations.chunk_pairs[i]),
                    float(iterations.chunk_kv[i]),
                    n,
                    round(float(first + step * n)),
                )
            )
    return rows


def as_rows(iterations):
    """The reference's iterations as `expanded` has them."""
    return [
        (
            len(one["chunks"]),
            sum(tokens for tokens, _ in one["chunks"]),
            one["ended"],
            float(sum(before + j + 1 for tokens, before in one["chunks"] for j in range(tokens))),
            float(sum(before + tokens for tokens, before in one["chunks"])),
            len(one["decodes"]),
            sum(one["decodes"]),
        )
        for one in iterations
    ]


def load(isl, osl, cached=None, arrived_s=None, clients=None):
    """Requests of these lengths; all at once unless told otherwise."""
    return Arrivals(
        isl=np.array(isl),
        osl=np.array(osl),
        cached=np.zeros(len(isl), dtype=np.int64) if cached is None else np.array(cached),
        arrived_s=np.zeros(len(isl)) if arrived_s is None else np.array(arrived_s),
        clients=clients,
    )


def seconds_of_row(one):
    """The time of an iteration of the reference: linear, so that a mean of tokens has the mean time."""
    return 1.0 + 0.01 * sum(tokens for tokens, _ in one["chunks"]) + _decode_s(len(one["decodes"]), sum(one["decodes"]))


def seconds_of_run(run):
    """The same of a run, or of columns of them."""
    return 1.0 + 0.01 * run.prompt_tokens + _decode_s(run.decodes, run.decodes * run.decode_kv)


def _decode_s(count, tokens):
    return 0.001 * count + 0.0001 * tokens
