"""Mean times as linear functions of an engine's factors, under a schedule that does not depend on time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .factors import FIRST_TOKEN, ITERATION, Factors
from .iterations import Floats, Integers, Iterations, Served


@dataclass(frozen=True, slots=True)
class Linear:
    """Features of the mean times of all requests.

    `ttft` has one for each of `factors.NAMES`; that of `first_flush` is the share of requests with more than one token,
    and its factor is multiplied by the mean TPOT too. `tpot` has one for each of `factors.ITERATION`, all zero where no
    request has a second token.
    """

    ttft: Floats
    tpot: Floats

    def tpot_s(self, factors: Factors) -> float:
        """The mean time between tokens of a request, over those with more than one."""
        return float(self.tpot @ factors.of_iterations())

    def ttft_s(self, factors: Factors) -> float:
        """The mean time to the first token."""
        first = (factors.first_constant_s, factors.first_token_s, factors.first_flush * self.tpot_s(factors))
        return float(self.ttft @ np.concatenate((factors.of_iterations(), first)))


@dataclass(frozen=True, slots=True)
class Weights:
    """How much one iteration of each run counts in a mean time: a schedule's part of `Linear`, for any costs."""

    ttft: Floats
    tpot: Floats
    first: Floats  # features of `FIRST_TOKEN`

    def of(self, costs: Floats) -> Linear:
        """The features where an iteration of each run costs a row of `costs`: a column for each of `ITERATION`."""
        assert costs.shape == (len(self.ttft), len(ITERATION))
        return Linear(np.concatenate((self.ttft @ costs, self.first)), self.tpot @ costs)


def weights(iterations: Iterations, served: Served) -> Weights:
    """The weights of all requests, of which those that come by the clock come at its zero."""
    several = served.osl > 1
    share = np.full(len(served), 1 / len(served))
    gaps = np.zeros(len(served))
    gaps[several] = 1 / (served.osl[several] - 1) / max(int(several.sum()), 1)
    rows = len(iterations)
    first = np.array([1.0, served.isl.mean(), several.mean()])
    assert len(first) == len(FIRST_TOKEN)
    return Weights(
        ttft=iterations.repeats * _counted(served.released_by, served.first, share, rows),
        tpot=iterations.repeats * _counted(served.first, served.last, gaps, rows),
        first=first,
    )


def _counted(after: Integers, until: Integers, share: Floats, rows: int) -> Floats:
    """For each run the sum of the shares of requests to whose time it belongs: the runs past `after` up to `until`."""
    opened = np.bincount(after + 1, share, rows + 1)
    closed = np.bincount(until + 1, share, rows + 1)
    counted: Floats = np.cumsum(opened - closed)[:rows]
    return counted
