"""Times under a load, corrected by what measured points near to it were off."""

from __future__ import annotations

from dataclasses import replace

from .answer import Steady, Times
from .fitted import Fitted
from .spread import Spread


def corrected(times: Times, ttft_ratio: float, tpot_ratio: float) -> Times:
    """Times to the first token and between tokens times a ratio each; whole requests and rates follow."""
    e2e = _e2e(times.ttft, times.e2e, ttft_ratio, tpot_ratio)
    faster = times.e2e.mean / e2e.mean
    return replace(
        times,
        ttft=_times(times.ttft, ttft_ratio),
        tpot=times.tpot and _times(times.tpot, tpot_ratio),
        itl=times.itl and _times(times.itl, tpot_ratio),
        e2e=e2e,
        decode_step_s=None if times.decode_step_s is None else times.decode_step_s * tpot_ratio,
        tokens_per_s=times.tokens_per_s * faster,
        tokens_per_s_per_gpu=times.tokens_per_s_per_gpu * faster,
        requests_per_s=times.requests_per_s * faster,
        steady=times.steady and _steady(times.steady, ttft_ratio, tpot_ratio),
    )


def with_intervals(times: Times, known: Fitted) -> Times:
    """The times with what measured points lie between around them."""
    return replace(
        times,
        ttft_interval=known.ttft,
        tpot_interval=known.tpot if times.tpot else None,
        e2e_interval=known.e2e if times.tpot else known.ttft,
    )


def _steady(found: Steady, ttft_ratio: float, tpot_ratio: float) -> Steady:
    e2e = _e2e(found.ttft, found.e2e, ttft_ratio, tpot_ratio)
    return replace(
        found,
        ttft=_times(found.ttft, ttft_ratio),
        tpot=found.tpot and _times(found.tpot, tpot_ratio),
        itl=found.itl and _times(found.itl, tpot_ratio),
        e2e=e2e,
        tokens_per_s=found.tokens_per_s * found.e2e.mean / e2e.mean,
    )


def _times(found: Spread, ratio: float) -> Spread:
    return Spread(mean=found.mean * ratio, p50=found.p50 * ratio, p90=found.p90 * ratio, p99=found.p99 * ratio)


def _e2e(ttft: Spread, e2e: Spread, ttft_ratio: float, tpot_ratio: float) -> Spread:
    """Whole requests, of which the share of the mean time to the first token goes with that."""
    share = ttft.mean / e2e.mean
    return _times(e2e, share * ttft_ratio + (1 - share) * tpot_ratio)
