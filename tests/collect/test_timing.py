"""The order of what is timed: flushed before every cold call, replayed before every warm sample."""

from contextlib import contextmanager

import pytest
import torch

from synperf.collect import timing
from synperf.collect.timing import CpuTimer, GpuTimer, expected_s, measure


@pytest.fixture
def told(monkeypatch):
    """What happens on a GPU that is made up, in order: its clock goes by 1 ms with each thing that happens."""
    done = []

    class Event:
        def __init__(self, *, enable_timing):
            assert enable_timing

        def record(self):
            done.append("event")
            self.at = len(done)

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return other.at - self.at

    class Graph:
        def replay(self):
            done.append("replay")

    @contextmanager
    def graph(_):
        yield

    for name, value in {"Event": Event, "CUDAGraph": Graph, "graph": graph, "synchronize": lambda: None}.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(torch.Tensor, "fill_", lambda *_: done.append("flush"))
    return done


def test_a_warm_sample_of_a_gpu_is_a_replay_behind_another(told):
    sample, how = GpuTimer(64, torch.device("cpu")).warm(lambda: told.append("call"), 4)
    assert (told, how) == (["call"] * 4, "graph")
    told.clear()
    assert sample() == pytest.approx(2e-3 / 4)
    assert told == ["replay", "event", "replay", "event"]


def test_a_cold_sample_of_a_gpu_is_one_call_behind_flushes(told):
    sample, how = GpuTimer(64, torch.device("cpu")).cold(lambda: told.append("call"))
    assert (sample(), how) == (pytest.approx(2e-3), "events")
    assert told == [*["flush"] * 8, "event", "call", "event"]


def test_calls_that_no_graph_takes_are_timed_one_by_one(told, monkeypatch):
    @contextmanager
    def refuse(_):
        raise RuntimeError("operation not permitted when stream is capturing")
        yield

    monkeypatch.setattr(torch.cuda, "graph", refuse)
    sample, how = GpuTimer(64, torch.device("cpu")).warm(lambda: told.append("call"), 2)
    assert (sample(), how) == (pytest.approx(3e-3 / 2), "events")
    assert told == ["call", "call", "event", "call", "call", "event"]


def test_quartiles_are_of_calls_on_several_inputs_in_turn(monkeypatch):
    calls, clock = [], iter(range(10**9))
    monkeypatch.setattr(timing, "MEASURE_S", 0.0)
    monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: next(clock) * 1_000_000)
    found = measure(
        [lambda i=i: calls.append(i) for i in range(3)], "cold", torch.device("cpu"), CpuTimer(64)
    )  # fmt: skip
    assert (found.time_s, found.q1_s, found.q3_s) == (pytest.approx(1e-3),) * 3
    assert (found.repeats, found.calls, found.timer) == (7, 1, "perf_counter")
    assert calls[-7:] == [0, 1, 2, 0, 1, 2, 0]


def test_a_longer_call_is_expected_to_take_longer_in_both_states():
    for state in ("warm", "cold"):
        for kind in ("cpu", "cuda"):
            expected = [expected_s(call_s, 1e-3, state, kind) for call_s in (1e-6, 1e-4, 1e-2, 1.0)]
            assert expected == sorted(expected)
            assert expected[-1] >= timing.LEAST_REPEATS
