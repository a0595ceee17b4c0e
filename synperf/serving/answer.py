"""What a model on a plan does under a load: the answer of `estimate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..models import Plan
    from .memory import Memory
    from .spread import Spread
    from .workload import Workload

PREFILL, DECODE = "prefill", "decode"
KERNELS, ATTENTION, COLLECTIVES, HOST, WAIT = "kernels", "attention", "collectives", "host", "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Time of one part in all iterations of a phase, and its share of the time of all of them.

    Iterations with new tokens of prompts are of the phase prefill, others of decode. `kind` says which factor a part
    has: kernels, attention, collectives; or host, or wait, for the slowest stage of a pipeline. `limiter` is the pipe
    that limits it at most of its sizes: dram, tensor, l2, launch, ..., of messages latency or the link.
    """

    part: str
    phase: str
    family: str
    kind: str
    time_s: float
    share: float
    origin: str
    limiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """What requests see under a closed loop once its initial burst is over."""

    requests: int
    ttft: Spread
    tpot: Spread | None
    itl: Spread | None
    e2e: Spread
    tokens_per_s: float
    mean_concurrency: float


@dataclass(frozen=True, slots=True)
class Interval:
    """The central 80 % of measured values around a predicted one, as ratios to it."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What requests see, and what the GPUs do meanwhile.

    Rates are of all GPUs of the plan, times those of a request. Of a static batch whose requests have one length of
    answers, no engine that runs kernel after kernel is faster than `floor_s`, and none at all than `roofline_s`
    (`roofline.py`). Nothing is taken to overlap, so all communication is exposed.
    """

    ttft: Spread
    tpot: Spread | None
    itl: Spread | None
    e2e: Spread
    decode_step_s: float | None
    floor_s: float | None
    roofline_s: float | None
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    requests_per_s: float
    mean_concurrency: float
    steady: Steady | None
    left_out: str
    breakdown: tuple[Share, ...]
    ttft_interval: Interval | None = None
    tpot_interval: Interval | None = None
    e2e_interval: Interval | None = None

    @property
    def host_share(self) -> float:
        """Share of the host in the time of all iterations."""
        return self._share(HOST)

    @property
    def communication_share(self) -> float:
        """Share of messages between GPUs."""
        return self._share(COLLECTIVES)

    def _share(self, kind: str) -> float:
        return sum(one.share for one in self.breakdown if one.kind == kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The answer; `times` is None where the load does not fit, and `would_fit` says what would.

    `origin` says in a sentence where the factors on predicted kernels come from.
    """

    model: str
    gpu: str
    engine: str
    plan: Plan
    workload: Workload
    memory: Memory
    times: Times | None
    would_fit: tuple[str, ...] = ()
    origin: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether weights and the requests that must be held at once find room."""
        return self.memory.fits
