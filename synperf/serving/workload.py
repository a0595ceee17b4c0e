"""Kinds of load. Each is a list of requests and a rule of when they come, and says both as `Arrivals`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from .arrivals import Arrivals
from .lengths import MOST_REQUESTS, check, drawn, finite, listed, one, poisson, spread, tokens

ROUNDS = 10  # requests of a closed loop for each client, as the common serving benchmarks send
OPEN_REQUESTS = 1000  # of an open loop: ten of them lie above the 99th percentile
RATES = (1e-6, 1e6)  # requests per second
LATEST_S = 1e12  # beyond any clock, and exact to a millisecond in float64


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticBatch:
    """Requests that all come at once, and no other.

    `isl` and `osl` are tokens of each prompt and answer, and `cached` tokens of the prompt that are in the cache
    already; left out, none are.

    Raises:
        FieldError: a field is not what it should be.
    """

    isl: Sequence[int]
    osl: Sequence[int]
    cached: Sequence[int] = ()

    def __post_init__(self) -> None:
        _set_columns(self)

    @classmethod
    def alike(cls, batch: Any, isl: Any, osl: Any, cached: Any = 0) -> StaticBatch:
        """So many requests of one size.

        Raises:
            FieldError: as the class.
        """
        count = one("batch", batch, most=MOST_REQUESTS)
        sizes = one("isl", isl), one("osl", osl), one("cached", cached, least=0)
        return cls(**{name: (size,) * count for name, size in zip(("isl", "osl", "cached"), sizes, strict=True)})

    def arrivals(self) -> Arrivals:
        """All at the zero of the clock."""
        return _columns(self, np.zeros(len(self.isl)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTrace:
    """Requests that come at given times, `arrived_s` on one clock, in any order; else as `StaticBatch`.

    Raises:
        FieldError: a field is not what it should be.
    """

    arrived_s: Sequence[float]
    isl: Sequence[int]
    osl: Sequence[int]
    cached: Sequence[int] = ()

    def __post_init__(self) -> None:
        _set_columns(self)
        given = enumerate(listed("arrived_s", self.arrived_s))
        times = tuple(finite(f"arrived_s[{i}]", value, 0, LATEST_S, "seconds") for i, value in given)
        if len(times) != len(self.isl):
            raise FieldError(f"arrived_s has {len(times)} values, but isl has {len(self.isl)}")
        object.__setattr__(self, "arrived_s", times)

    def arrivals(self) -> Arrivals:
        """In order of time, and as they are listed where they come together."""
        return _columns(self, np.array(self.arrived_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """`concurrency` clients, each of which sends its next request when it has the answer to the one before.

    The first ones all come at once. `num_requests` are those of all clients, by default 10 for each. Lengths are
    spread evenly over `length_spread` times the nominal `isl` and `osl`, and are a token at least; the same `seed`
    draws the same lengths. The first `cached` tokens of every prompt are in the cache already, all but its last at the
    most.

    Raises:
        FieldError: a field is not what it should be.
    """

    concurrency: int
    isl: int
    osl: int
    num_requests: int | None = None
    length_spread: tuple[float, float] = (0.8, 1.0)
    cached: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        clients = one("concurrency", self.concurrency, most=MOST_REQUESTS // ROUNDS)
        object.__setattr__(self, "concurrency", clients)
        _set_drawn(self, ROUNDS * clients)

    def arrivals(self) -> Arrivals:
        """The first at the zero of the clock, the others as these are completed."""
        return _drawn(self, np.random.default_rng(self.seed), np.zeros(int(self.num_requests or 0)), self.concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoop:
    """Requests that come whether those before are answered or not: a Poisson process of `request_rate` per second.

    `num_requests` are 1000 by default; the other fields are those of `ClosedLoop`.

    Raises:
        FieldError: a field is not what it should be.
    """

    request_rate: float
    isl: int
    osl: int
    num_requests: int | None = None
    length_spread: tuple[float, float] = (0.8, 1.0)
    cached: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        rate = finite("request_rate", self.request_rate, *RATES, "requests per second")
        object.__setattr__(self, "request_rate", rate)
        _set_drawn(self, OPEN_REQUESTS)

    def arrivals(self) -> Arrivals:
        """At times that are drawn, as lengths are."""
        lengths, times = np.random.default_rng(self.seed).spawn(2)
        return _drawn(self, lengths, poisson(self.request_rate, int(self.num_requests or 0), times))


Workload = StaticBatch | RequestTrace | ClosedLoop | OpenLoop


def _set_columns(load: StaticBatch | RequestTrace) -> None:
    """Reads the lengths of listed requests, in place."""
    for name, least in (("isl", 1), ("osl", 1), ("cached", 0)):
        object.__setattr__(load, name, tokens(name, getattr(load, name), least))
    if not load.cached:
        object.__setattr__(load, "cached", (0,) * len(load.isl))
    check(load.isl, load.osl, load.cached)


def _columns(load: StaticBatch | RequestTrace, arrived_s: Any) -> Arrivals:
    order = np.argsort(arrived_s, kind="stable")
    isl, osl, cached = (np.array(column, dtype=np.int64)[order] for column in (load.isl, load.osl, load.cached))
    return Arrivals(isl=isl, osl=osl, cached=cached, arrived_s=arrived_s[order])


def _set_drawn(load: ClosedLoop | OpenLoop, num_requests: int) -> None:
    """Reads what loads of drawn lengths have in common, in place."""
    given = num_requests if load.num_requests is None else load.num_requests
    object.__setattr__(load, "num_requests", one("num_requests", given, most=MOST_REQUESTS))
    for name in ("isl", "osl"):
        object.__setattr__(load, name, one(name, getattr(load, name)))
    for name in ("cached", "seed"):
        object.__setattr__(load, name, one(name, getattr(load, name), least=0))
    object.__setattr__(load, "length_spread", spread(load.length_spread))
    if load.cached >= load.isl:
        raise FieldError(f"cached must be below isl, which is {load.isl}, got {load.cached}")


def _drawn(
    load: ClosedLoop | OpenLoop, generator: np.random.Generator, arrived_s: Any, clients: int | None = None
) -> Arrivals:
    isl, osl = (drawn(nominal, load.length_spread, len(arrived_s), generator) for nominal in (load.isl, load.osl))
    cached = np.minimum(load.cached, isl - 1)
    return Arrivals(isl=isl, osl=osl, cached=cached, arrived_s=arrived_s, clients=clients)
