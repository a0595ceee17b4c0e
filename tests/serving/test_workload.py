"""Kinds of load: which requests come, and what is refused."""

import numpy as np
import pytest

from synperf.errors import FieldError
from synperf.serving.workload import ClosedLoop, OpenLoop, RequestTrace, StaticBatch


def test_a_static_batch_comes_at_once():
    arrivals = StaticBatch(isl=[10, "20"], osl=[3, 4.0], cached=[0, 16]).arrivals()
    assert (arrivals.isl.tolist(), arrivals.osl.tolist(), arrivals.cached.tolist()) == ([10, 20], [3, 4], [0, 16])
    assert (arrivals.arrived_s.tolist(), arrivals.clients) == ([0.0, 0.0], None)
    assert StaticBatch.alike(2, 10, 3) == StaticBatch(isl=(10, 10), osl=(3, 3))


def test_a_closed_loop_has_ten_requests_for_each_client_and_starts_with_one_for_each():
    load = ClosedLoop(concurrency=4, isl=1000, osl=100)
    arrivals = load.arrivals()
    assert (load.num_requests, len(arrivals), arrivals.clients, arrivals.clocked) == (40, 40, 4, 4)
    assert not arrivals.arrived_s.any()
    assert ClosedLoop(concurrency=4, isl=10, osl=1, num_requests=3).arrivals().clocked == 3


def test_lengths_are_spread_evenly_and_the_same_seed_draws_the_same():
    arrivals = ClosedLoop(concurrency=1000, isl=1000, osl=100).arrivals()
    assert (arrivals.isl.min(), arrivals.isl.max()) == (800, 1000)
    assert (arrivals.osl.min(), arrivals.osl.max()) == (80, 100)
    assert arrivals.isl.mean() == pytest.approx(900, rel=0.01)
    assert abs(np.corrcoef(arrivals.isl, arrivals.osl)[0, 1]) < 0.05
    again, other = (ClosedLoop(concurrency=1000, isl=1000, osl=100, seed=seed).arrivals() for seed in (0, 1))
    assert (again.isl == arrivals.isl).all()
    assert (other.isl != arrivals.isl).any()


def test_lengths_are_a_token_at_least_and_a_prefix_leaves_one():
    arrivals = ClosedLoop(concurrency=10, isl=10, osl=1, length_spread=(0.01, 1.0), cached=5).arrivals()
    assert arrivals.isl.min() == 1
    assert (arrivals.osl == 1).all()
    assert (arrivals.cached == np.minimum(5, arrivals.isl - 1)).all()
    assert (ClosedLoop(concurrency=3, isl=10, osl=2, length_spread=[1, 1]).arrivals().isl == 10).all()


def test_an_open_loop_has_its_rate():
    load = OpenLoop(request_rate=4, isl=100, osl=10, num_requests=20_000)
    times = load.arrivals().arrived_s
    assert times[-1] / len(times) == pytest.approx(1 / 4, rel=0.02)
    gaps = np.diff(times)
    assert (gaps >= 0).all()
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.03)  # as of a Poisson process
    assert OpenLoop(request_rate=4, isl=100, osl=10).num_requests == 1000


def test_a_trace_is_put_in_order_of_time():
    arrivals = RequestTrace(arrived_s=[2.0, 1, "1.0"], isl=[10, 20, 30], osl=[1, 2, 3]).arrivals()
    assert (arrivals.arrived_s.tolist(), arrivals.isl.tolist()) == ([1.0, 1.0, 2.0], [20, 30, 10])


CLOSED = {"concurrency": 4, "isl": 10, "osl": 5}
OPEN = {"request_rate": 1.0, "isl": 10, "osl": 5}
LISTED = {"isl": [1, 2], "osl": [1, 2]}
TRACE = {"arrived_s": [0, 1], **LISTED}


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (ClosedLoop, CLOSED | {"concurrency": 0}, "concurrency must be a whole number from 1 to 100000, got 0"),
        (ClosedLoop, CLOSED | {"concurrency": 2**31 - 1}, "concurrency must be a whole number from 1 to 100000"),
        (ClosedLoop, CLOSED | {"isl": 0}, "isl must be a whole number from 1 to 2147483647, got 0"),
        (ClosedLoop, CLOSED | {"osl": -5}, "osl must be a whole number from 1"),
        (ClosedLoop, CLOSED | {"isl": [1, 2]}, "isl must be one whole number, got 2 values"),
        (ClosedLoop, CLOSED | {"num_requests": 2_000_000}, "num_requests must be a whole number from 1 to 1000000"),
        (ClosedLoop, CLOSED | {"length_spread": (1.0, 0.8)}, "length_spread must be two numbers"),
        (ClosedLoop, CLOSED | {"length_spread": "0.8"}, "length_spread must be two numbers"),
        (ClosedLoop, CLOSED | {"length_spread": (0.8, float("nan"))}, "length_spread must be two numbers"),
        (ClosedLoop, CLOSED | {"cached": 10}, "cached must be below isl, which is 10, got 10"),
        (ClosedLoop, CLOSED | {"cached": -1}, "cached must be a whole number from 0"),
        (ClosedLoop, CLOSED | {"seed": "x"}, "seed must be a whole number from 0"),
        (OpenLoop, OPEN | {"request_rate": 0}, "request_rate must be a number of requests per second from 1e-06"),
        (OpenLoop, OPEN | {"request_rate": "fast"}, "request_rate must be a number .* got 'fast'"),
        (StaticBatch, {"isl": [], "osl": []}, "requests must be from 1 to 1000000, got 0"),
        (StaticBatch, {"isl": 5, "osl": 5}, "isl must be a list of numbers, got '5'"),
        (StaticBatch, LISTED | {"osl": [1]}, "osl has 1 values, but isl has 2"),
        (StaticBatch, LISTED | {"cached": [0, 0, 0]}, "cached has 3 values, but isl has 2"),
        (StaticBatch, LISTED | {"cached": [0, 2]}, "cached of request 2 must be below its isl 2"),
        (StaticBatch, LISTED | {"isl": [1, 1.5]}, r"isl\[1\] must be a whole number from 1"),
        (RequestTrace, TRACE | {"arrived_s": [0]}, "arrived_s has 1 values, but isl has 2"),
        (RequestTrace, TRACE | {"arrived_s": [0, -1]}, r"arrived_s\[1\] must be a number of seconds from 0"),
        (RequestTrace, TRACE | {"arrived_s": [0, float("inf")]}, r"arrived_s\[1\] must be a number"),
        (RequestTrace, TRACE | {"arrived_s": 3}, "arrived_s must be a list of numbers"),
    ],
)
def test_what_is_not_right_is_named(kind, given, message):
    with pytest.raises(FieldError, match=message):
        kind(**given)


def test_a_batch_of_no_request_is_refused():
    with pytest.raises(FieldError, match="batch must be a whole number from 1 to 1000000, got 0"):
        StaticBatch.alike(0, 10, 5)
