"""How many instructions of a warp have to be independent so that its scheduler never waits for results.

Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9 (1961), as applied in
V. Volkov, "Understanding Latency Hiding on GPUs", UC Berkeley, 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .amounts import count, positive

_MOST_WARPS = 64
_CLOSE = 1e-9  # an instruction more for less than that is a rounding error


@dataclass(frozen=True, slots=True, kw_only=True)
class Ilp:
    """`instructions` of each warp have to be independent; `warps_alone` hide the latency with one each."""

    pipe_latency_cycles: float
    warps_per_scheduler: int
    issue_per_clk: float
    instructions: int
    warps_alone: int
    why: tuple[str, ...]
    advice: tuple[str, ...]


def ilp(*, pipe_latency_cycles: float, warps_per_scheduler: int, issue_per_clk: float = 1.0) -> Ilp:
    """Latency of a pipe × the instructions that a scheduler issues to it in a clock, over its resident warps.

    Raises:
        FieldError: a number is out of range.
    """
    positive(pipe_latency_cycles=pipe_latency_cycles, issue_per_clk=issue_per_clk)
    warps = count("warps_per_scheduler", warps_per_scheduler, _MOST_WARPS)
    in_flight = pipe_latency_cycles * issue_per_clk
    needed, alone = instructions(in_flight, warps), instructions(in_flight, 1)
    return Ilp(
        pipe_latency_cycles=pipe_latency_cycles,
        warps_per_scheduler=warps,
        issue_per_clk=issue_per_clk,
        instructions=needed,
        warps_alone=alone,
        why=(
            f"a result takes {pipe_latency_cycles:g} cycles, in which a scheduler issues {in_flight:g} instructions; "
            f"its {'1 warp has' if warps == 1 else f'{warps} warps have'} to hold that many: {needed} each",
        ),
        advice=(
            f"{alone} warps of a scheduler do with one instruction at a time each"
            if needed > 1
            else "nothing to gain: other warps issue while one waits",
            *(("unroll loops, and let a thread compute several results, for more in each warp",) if needed > 1 else ()),
        ),
    )


def instructions(in_flight: float, warps: int) -> int:
    """Independent instructions of each of these warps, at least one."""
    return max(1, ceil(in_flight / warps - _CLOSE))
