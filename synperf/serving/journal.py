"""What is written down while requests are served."""

from __future__ import annotations

import numpy as np

from ..errors import FieldError
from .arrivals import Arrivals
from .clock import Seconds
from .iterations import Iterations, Run, Served

MOST_RUNS = 5_000_000  # about 1 GB of memory


class Journal:
    """Runs as they end, and for each request the runs at whose ends something happened to it.

    `now_s` is the time by `seconds`, and stays at zero without them.
    """

    def __init__(self, arrivals: Arrivals, seconds: Seconds | None) -> None:
        self._arrivals, self._seconds = arrivals, seconds
        self._runs: list[Run] = []
        self._last_decode = -1
        self._drawn = [-1] * len(arrivals)  # the run of the token before a loss, or of the first
        self._first, self._last, self._released_by = ([-1] * len(arrivals) for _ in range(3))
        self._preempted = [0] * len(arrivals)
        self._lost: set[int] = set()  # requests that have tokens, but not in the cache
        self._stalls: list[tuple[int, int, int]] = []
        self.now_s = 0.0

    def run(self, run: Run) -> None:
        """A run has ended.

        Raises:
            FieldError: there are too many.
        """
        if len(self._runs) == MOST_RUNS:
            raise FieldError(
                f"the load takes more than {MOST_RUNS} iterations that are not alike; right would be fewer or shorter "
                "requests, or a larger token_budget"
            )
        if run.decodes:
            self._last_decode = len(self._runs)
        self._runs.append(run)
        if self._seconds is not None:
            self.now_s += run.repeats * self._seconds(run)

    def prompt_ended(self, request: int) -> None:
        """A request has drawn a token at the end of its prompt."""
        at = len(self._runs) - 1
        if request in self._lost:
            self._lost.remove(request)
            self._stalls.append((request, self._drawn[request], at))
        elif self._first[request] < 0:
            self._first[request] = at
        self._drawn[request] = at

    def lost(self, request: int, in_decode: bool) -> None:
        """A request has lost its cache."""
        self._preempted[request] += 1
        if in_decode:
            self._lost.add(request)
            self._drawn[request] = max(self._drawn[request], self._last_decode)

    def completed(self, request: int) -> None:
        """A request has drawn its last token."""
        self._last[request] = len(self._runs) - 1

    def released(self, request: int) -> None:
        """A request comes because another is completed."""
        self._released_by[request] = len(self._runs) - 1

    def results(self) -> tuple[Iterations, Served]:
        """All of it as columns."""
        served = Served(
            isl=self._arrivals.isl,
            osl=self._arrivals.osl,
            arrived_s=self._arrivals.arrived_s,
            released_by=np.array(self._released_by, dtype=np.int64),
            first=np.array(self._first, dtype=np.int64),
            last=np.array(self._last, dtype=np.int64),
            preempted=np.array(self._preempted, dtype=np.int64),
            stalls=np.array(self._stalls, dtype=np.int64).reshape(-1, 3),
        )
        return Iterations.of(self._runs), served
