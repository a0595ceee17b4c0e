"""How one call is timed: over and over with its data in the last cache (warm), or after that was flushed (cold)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import quantiles
from typing import Any, Protocol

import torch

from .timed import WARM

SETS = 3  # inputs that take turns
BATCH_S = {"cpu": 1e-3, "cuda": 2e-4}  # a sample is this long at the least: clocks tick in 0.1 us, and events in 0.5 us
MOST_CALLS = 1000  # in one sample
MEASURE_S = 0.1  # samples are taken for so long,
LEAST_REPEATS, MOST_REPEATS = 7, 100  # so often at the least and at the most
STABLE = 0.03  # warm is a device when the mean of three samples is within this of that of the three before, or
WARM_UP_S = 0.5  # when so much time has gone
PREPARE_S = 0.02  # to make the inputs' tensors, load kernels and record graphs: an estimate, for the plan alone
_FLUSHES = 8  # on a GPU, so that the call is in the queue before they end

Run = Callable[[], object]
Sample = Callable[[], float]  # seconds of one call


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Of one call in seconds: quartiles over `repeats` samples of `calls` each, and what took them."""

    time_s: float  # median
    q1_s: float
    q3_s: float
    repeats: int
    calls: int
    timer: str


class Timer(Protocol):
    """What differs between devices."""

    def warm(self, run: Run, calls: int) -> tuple[Sample, str]:
        """(a sampler of so many calls in a row, how it is timed)."""
        ...

    def cold(self, run: Run) -> tuple[Sample, str]:
        """(a sampler of one call after the last cache was overwritten, how it is timed)."""
        ...


class CpuTimer:
    """Clock of the process around batches of calls."""

    def __init__(self, cache_bytes: int) -> None:
        self._buffer = torch.empty(2 * cache_bytes, dtype=torch.uint8)

    def warm(self, run: Run, calls: int) -> tuple[Sample, str]:
        """The calls follow one another."""

        def sample() -> float:
            start = time.perf_counter_ns()
            for _ in range(calls):
                run()
            return (time.perf_counter_ns() - start) * 1e-9 / calls

        return sample, "perf_counter"

    def cold(self, run: Run) -> tuple[Sample, str]:
        """A buffer of twice the cache is written before every call."""
        once, how = self.warm(run, 1)

        def sample() -> float:
            self._buffer.fill_(1)
            return once()

        return sample, how


class GpuTimer:
    """Events around the replay of a graph of calls, or around one call behind a flush; of CUDA and of ROCm alike."""

    def __init__(self, cache_bytes: int, device: torch.device) -> None:
        self._buffer = torch.empty(2 * cache_bytes, dtype=torch.uint8, device=device)
        event: Any = torch.cuda.Event
        self._start, self._end = event(enable_timing=True), event(enable_timing=True)

    def warm(self, run: Run, calls: int) -> tuple[Sample, str]:
        """A graph of the calls is replayed twice, the second time timed; calls that no graph takes come one by one."""
        replay, how = self._graph(run, calls)

        def sample() -> float:
            replay()
            return self._between(replay) / calls

        return sample, how

    def cold(self, run: Run) -> tuple[Sample, str]:
        """A buffer of twice the cache is written before every call."""

        def sample() -> float:
            for _ in range(_FLUSHES):
                self._buffer.fill_(1)
            return self._between(run)

        return sample, "events"

    def _between(self, run: Run) -> float:
        self._start.record()
        run()
        self._end.record()
        self._end.synchronize()
        return float(self._start.elapsed_time(self._end)) * 1e-3

    def _graph(self, run: Run, calls: int) -> tuple[Run, str]:
        def one_by_one() -> None:
            for _ in range(calls):
                run()

        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                one_by_one()
        except RuntimeError:
            torch.cuda.synchronize()
            return one_by_one, "events"
        return graph.replay, "graph"


def timer(device: torch.device, cache_bytes: int) -> Timer:
    """The timer of a device."""
    return CpuTimer(cache_bytes) if device.type == "cpu" else GpuTimer(cache_bytes, device)


def measure(runs: Sequence[Run], state: str, device: torch.device, timer: Timer) -> Times:
    """The times of one call, on several sets of inputs in turn."""
    for run in runs:  # the first call of each chooses and loads kernels
        run()
    calls = 1
    if state == WARM:
        once, _ = timer.warm(runs[0], 1)
        once()
        calls = min(MOST_CALLS, ceil(BATCH_S[device.type] / max(once(), 1e-9)))
    prepared = [timer.warm(run, calls) if state == WARM else timer.cold(run) for run in runs]
    samplers, how = [sample for sample, _ in prepared], prepared[0][1]
    _warm_up(samplers)
    found = _samples(samplers)
    q1, middle, q3 = quantiles(found, n=4, method="inclusive")
    return Times(time_s=middle, q1_s=q1, q3_s=q3, repeats=len(found), calls=calls, timer=how)


def _warm_up(samplers: Sequence[Sample]) -> None:
    """Samples until they change no more."""
    end, before = time.perf_counter() + WARM_UP_S, float("inf")
    while time.perf_counter() < end:
        mean = sum(sample() for sample in samplers) / len(samplers)
        if abs(mean / before - 1.0) < STABLE:
            return
        before = mean


def _samples(samplers: Sequence[Sample]) -> list[float]:
    start, found = time.perf_counter(), list[float]()
    while len(found) < LEAST_REPEATS or (len(found) < MOST_REPEATS and time.perf_counter() - start < MEASURE_S):
        found.append(samplers[len(found) % len(samplers)]())
    return found


def expected_s(call_s: float, flush_s: float, state: str, kind: str) -> float:
    """About how long `measure` takes of a call that takes `call_s`, on a device of that kind."""
    if state == WARM:
        sample_s = max(call_s, BATCH_S[kind]) * (1.0 if kind == "cpu" else 2.0)
    else:
        sample_s = call_s + flush_s * (1 if kind == "cpu" else _FLUSHES)
    repeats = min(max(MEASURE_S / sample_s, LEAST_REPEATS), MOST_REPEATS)
    return PREPARE_S + SETS * call_s + (repeats + 2 * SETS) * sample_s
