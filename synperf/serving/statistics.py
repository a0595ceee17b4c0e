"""What requests see of a load: times to the first token, between tokens and to the last, and tokens per second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .clock import ends
from .factors import Factors
from .gaps import gaps
from .iterations import Floats, Integers, Iterations, Served
from .spread import Spread

Kept = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Times of each request, in order of arrival; columns of one length.

    `arrived_s` and `ended_s` are on the clock of the load, `ttft_s` and `e2e_s` count from the arrival. `tpot_s` =
    (e2e_s - ttft_s) / (osl - 1), and NaN of a request with one token.
    """

    arrived_s: Floats
    ttft_s: Floats
    tpot_s: Floats
    e2e_s: Floats
    ended_s: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Times over `requests` of them, and rates over a stretch of `duration_s`.

    `ttft_s` and `e2e_s` are over requests, `tpot_s` over those with more than one token, `itl_s` over all gaps between
    two tokens of one request; None where there are none. `mean_concurrency` is the mean over time of requests that have
    come and are not completed: over all of a load, `requests_per_s` times the mean of `e2e_s` (Little's law).
    """

    requests: int
    duration_s: float
    ttft_s: Spread
    tpot_s: Spread | None
    itl_s: Spread | None
    e2e_s: Spread
    tokens_per_s: float  # of answers
    requests_per_s: float
    mean_concurrency: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """`whole` is over all requests; `steady` is a closed loop without its initial burst.

    Steady requests are those that came when all the first ones, which came at once, had been served; their rates are
    over the time from there until the last request came, while every client had one in flight. `steady` is None, and
    `left_out` says why, where that is less than one request for each client. `decode_step_s` is the mean iteration of
    decode alone, None where there is none.
    """

    whole: Summary
    steady: Summary | None
    left_out: str
    decode_step_s: float | None


def seen(iterations: Iterations, served: Served, seconds: Floats, factors: Factors) -> Seen:
    """The times of each request, where `seconds` are of one iteration of each run.

    First tokens come later than their iterations end, by what `factors` say; what follows them is as much later.
    """
    return _seen(served, ends(iterations, served, seconds), factors)


def statistics(iterations: Iterations, served: Served, seconds: Floats, factors: Factors) -> Statistics:
    """Means, percentiles and rates, where `seconds` are of one iteration of each run.

    First tokens come later than their iterations end, by what `factors` say; what follows them is as much later. The
    schedule has the next request of a client come without waiting for that, so rates of a closed loop are less in the
    ratio of the times of requests without it and with it: no more are in flight than there are clients.
    """
    ended_s = ends(iterations, served, seconds)
    load = _Load(iterations, served, seconds, ended_s, _seen(served, ended_s, factors))
    alone = iterations.chunks == 0
    steps = iterations.repeats[alone]
    steady, left_out = _steady(load)
    return Statistics(
        whole=_whole(load),
        steady=steady,
        left_out=left_out,
        decode_step_s=float(steps @ seconds[alone] / steps.sum()) if len(steps) else None,
    )


@dataclass(frozen=True, slots=True)
class _Load:
    iterations: Iterations
    served: Served
    seconds: Floats
    ended_s: Floats  # of runs
    seen: Seen

    def share_of_engine(self, kept: Kept) -> float:
        """Of a closed loop, the time of requests in the engine over all of it; 1 of loads that do not wait."""
        if not np.any(self.served.released_by >= 0):
            return 1.0
        seen = self.seen
        in_engine_s = self.ended_s[self.served.last] - seen.arrived_s
        return float(in_engine_s[kept].sum() / seen.e2e_s[kept].sum())


def _seen(served: Served, ended_s: Floats, factors: Factors) -> Seen:
    released = served.released_by >= 0
    arrived_s = np.where(released, ended_s[served.released_by], served.arrived_s)
    first_s, last_s = ended_s[served.first], ended_s[served.last]
    tpot_s = np.full(len(served), np.nan)
    np.divide(last_s - first_s, served.osl - 1, out=tpot_s, where=served.osl > 1)
    flush_s = np.where(served.osl > 1, factors.first_flush * tpot_s, 0.0)
    later_s = factors.first_constant_s + factors.first_token_s * served.isl + flush_s
    return Seen(
        arrived_s=arrived_s,
        ttft_s=first_s - arrived_s + later_s,
        tpot_s=tpot_s,
        e2e_s=last_s - arrived_s + later_s,
        ended_s=last_s + later_s,
    )


def _whole(load: _Load) -> Summary:
    start_s, end_s = float(load.seen.arrived_s.min()), float(load.seen.ended_s.max())
    everyone = np.ones(len(load.served), dtype=np.bool_)
    return _summary(load, everyone, (start_s, end_s), int(load.served.osl.sum()), len(load.served))


def _steady(load: _Load) -> tuple[Summary | None, str]:
    """(summary, sentence that says why there is none, else empty)."""
    served, iterations = load.served, load.iterations
    first = served.released_by < 0
    clients = int(first.sum())
    if clients == len(served):
        return None, "only a closed loop with more requests than clients has a steady part"
    begin, end = int(served.last[first].max()), int(served.released_by[-1])
    kept = served.released_by >= begin
    if kept.sum() < clients or end <= begin:
        return None, (
            f"{int(kept.sum())} requests came when the first {clients} had been served; a steady part takes as many as "
            "there are clients, so there must be more requests"
        )
    runs = slice(begin + 1, end + 1)
    tokens = iterations.first_tokens[runs].sum() + (iterations.repeats * iterations.decodes)[runs].sum()
    completed = ((served.last > begin) & (served.last <= end)).sum()
    window_s = float(load.ended_s[begin]), float(load.ended_s[end])
    return _summary(load, kept, window_s, int(tokens), int(completed)), ""


def _summary(load: _Load, kept: Kept, window_s: tuple[float, float], tokens: int, completed: int) -> Summary:
    """Times of the requests that are kept; `tokens` are drawn and requests `completed` in the window."""
    seen, (start_s, end_s) = load.seen, window_s
    duration_s = end_s - start_s
    in_flight_s = np.minimum(seen.ended_s, end_s) - np.maximum(seen.arrived_s, start_s)
    slower = load.share_of_engine(kept)
    counted: tuple[Floats, Integers] = gaps(load.iterations, load.served, load.seconds, load.ended_s, kept)
    return Summary(
        requests=int(kept.sum()),
        duration_s=duration_s,
        ttft_s=_some(seen.ttft_s[kept]),
        tpot_s=Spread.of(seen.tpot_s[kept & (load.served.osl > 1)]),
        itl_s=Spread.of(*counted),
        e2e_s=_some(seen.e2e_s[kept]),
        tokens_per_s=slower * tokens / duration_s,
        requests_per_s=slower * completed / duration_s,
        mean_concurrency=slower * float(np.maximum(in_flight_s, 0.0).sum()) / duration_s,
    )


def _some(values: Floats) -> Spread:
    spread = Spread.of(values)
    assert spread is not None  # there is a request
    return spread
