"""What requests see: small cases by hand, and every percentile against a list of all numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.serving.clock import ends
from synperf.serving.factors import Factors
from synperf.serving.gaps import gaps
from synperf.serving.loop import serve
from synperf.serving.policy import Policy
from synperf.serving.spread import Spread
from synperf.serving.statistics import seen, statistics
from synperf.serving.workload import ClosedLoop
from tests.serving.reference import load, reference, seconds_of_row, seconds_of_run
from tests.serving.test_loop_laws import cases, timed

POLICY = Policy(token_budget=10, block_tokens=1)


def of(arrivals, policy=POLICY, factors=Factors(), **options):  # noqa: B008 - frozen
    """Statistics where every iteration takes a second."""
    iterations, served = serve(arrivals, policy, **options)
    return statistics(iterations, served, np.ones(len(iterations)), factors)


def test_two_requests_worked_out_by_hand():
    """Prompts of 10 tokens: the first token of one at 1 s, of the other at 2 s; their last at 4 s and at 3 s."""
    whole = of(load([10, 10], [3, 2]), Policy(token_budget=10, order="prefill_first", block_tokens=1)).whole
    assert (whole.requests, whole.duration_s) == (2, 4.0)
    assert whole.ttft_s == Spread(mean=1.5, p50=1.5, p90=1.9, p99=1.99)
    assert whole.tpot_s.mean == (1.5 + 1.0) / 2
    assert whole.itl_s.mean == (2.0 + 1.0 + 1.0) / 3  # the first waits while the other's prompt runs
    assert whole.e2e_s.mean == 3.5
    assert (whole.tokens_per_s, whole.requests_per_s) == (5 / 4, 2 / 4)
    assert whole.mean_concurrency == 7 / 4


def test_an_answer_of_one_token_has_no_time_between_tokens():
    alone = of(load([10], [1]))
    assert (alone.whole.tpot_s, alone.whole.itl_s, alone.decode_step_s) == (None, None, None)
    both = of(load([5, 5], [1, 3]))
    assert both.whole.tpot_s.mean == 1.0
    assert both.whole.e2e_s.mean == 2.0


def test_the_first_token_is_seen_later_than_its_iteration_ends_and_the_last_as_much():
    factors = Factors(first_constant_s=0.5, first_token_s=0.01, first_flush=3.0)
    plain, later = of(load([5, 5], [1, 3])).whole, of(load([5, 5], [1, 3]), factors=factors).whole
    delay_s = 0.5 + 0.05 + 3.0 / 2  # one of the two has a second token, 1 s after the first
    assert later.ttft_s.mean == pytest.approx(plain.ttft_s.mean + delay_s)
    assert later.e2e_s.mean == pytest.approx(plain.e2e_s.mean + delay_s)
    assert later.tpot_s == plain.tpot_s


def test_the_steady_part_begins_when_the_first_requests_are_served():
    """Two clients, prompts in one iteration, answers of two tokens and once of four.

    Ends: 1 and 2 at 1 and 4, the third comes at 2, the fifth at 4, when the first two are served.
    """
    arrivals = load([1] * 8, [2, 4, 2, 2, 2, 2, 2, 2], clients=2)
    found = of(arrivals)
    assert found.left_out == ""
    assert found.whole.requests == 8
    assert found.steady.requests == 5
    assert found.steady.mean_concurrency == 2.0
    assert found.steady.tokens_per_s == 2.0


def test_a_load_without_a_steady_part_says_why():
    assert "only a closed loop" in of(load([1, 1], [2, 2])).left_out
    few = of(load([1] * 5, [2] * 5, clients=4))
    assert few.steady is None
    assert few.left_out.startswith("1 requests came when the first 4 had been served")


def test_a_steady_closed_loop_has_every_client_in_flight():
    iterations, served = serve(ClosedLoop(concurrency=16, isl=100, osl=50).arrivals(), Policy(token_budget=512))
    found = statistics(iterations, served, np.ones(len(iterations)), Factors())
    assert found.steady.mean_concurrency == pytest.approx(16)
    assert 16 * 8 <= found.steady.requests < 16 * 9
    assert found.steady.ttft_s.mean < found.whole.ttft_s.mean


@given(cases())
def test_every_number_is_that_of_a_list_of_all_tokens(case):
    arrivals, policy, max_tokens = case
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=timed(arrivals, seconds_of_run))
    seconds = 1.0 + 0.01 * iterations.prompt_tokens + 0.001 * iterations.decodes
    ended_s = ends(iterations, served, seconds)
    _, requests = reference(arrivals, policy, max_tokens, timed(arrivals, seconds_of_row))
    each_s = ended_of_each(iterations, seconds, ended_s)
    kept = np.arange(len(requests)) % 3 < 2
    expected = [gap for one, keep in zip(requests, kept, strict=True) if keep for gap in np.diff(each_s[one.draws])]
    times, counts = gaps(iterations, served, seconds, ended_s, kept)
    assert (counts >= 0).all()
    assert np.allclose(np.sort(np.repeat(times, counts)), np.sort(expected))
    found = seen(iterations, served, seconds, Factors())
    assert np.allclose(found.ended_s, [each_s[one.draws[-1]] for one in requests])
    assert np.allclose(found.ttft_s, [each_s[one.draws[0]] for one in requests] - found.arrived_s)


def ended_of_each(iterations, seconds, ended_s):
    """The end of every iteration."""
    parts = [
        end - second * np.arange(repeats)[::-1]
        for repeats, second, end in zip(iterations.repeats, seconds, ended_s, strict=True)
    ]
    return np.concatenate(parts)


@given(cases())
def test_requests_in_flight_are_their_rate_times_their_time(case):
    arrivals, policy, max_tokens = case
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=timed(arrivals, seconds_of_run))
    whole = statistics(iterations, served, seconds_of_run(iterations), Factors(first_constant_s=0.1)).whole
    assert whole.mean_concurrency == pytest.approx(whole.requests_per_s * whole.e2e_s.mean)


@given(st.lists(st.tuples(st.floats(0, 1e3), st.integers(0, 5)), min_size=1).filter(lambda a: any(n for _, n in a)))
def test_percentiles_are_those_of_numbers_one_by_one(pairs):
    values, counts = np.array([v for v, _ in pairs]), np.array([n for _, n in pairs])
    found, every = Spread.of(values, counts), np.repeat(values, counts)
    assert (found.p50, found.p90, found.p99) == pytest.approx(tuple(np.percentile(every, [50, 90, 99])))
    assert found.mean == pytest.approx(every.mean())
    assert Spread.of(values[:0]) is None
