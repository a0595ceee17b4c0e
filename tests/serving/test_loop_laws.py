"""Laws of every schedule, and agreement with one iteration at a time."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.serving.clock import ends
from synperf.serving.factors import Factors
from synperf.serving.loop import serve
from synperf.serving.policy import ORDERS, Policy
from synperf.serving.statistics import statistics
from synperf.serving.workload import ClosedLoop
from tests.serving.reference import as_rows, expanded, load, reference, seconds_of_row, seconds_of_run

POLICIES = st.builds(
    Policy,
    order=st.sampled_from(ORDERS),
    token_budget=st.sampled_from((1, 3, 8, 16, 50, 1000)),
    chunked=st.booleans(),
    max_requests=st.sampled_from((1, 2, 3, 5, 100)),
    block_tokens=st.sampled_from((1, 2, 4, 16, 1000)),
)
KINDS = ("static", "closed", "open")


@st.composite
def loads(draw, kinds=KINDS):
    sizes = draw(
        st.lists(st.tuples(st.integers(1, 40), st.integers(1, 30), st.integers(0, 39)), min_size=1, max_size=10)
    )
    isl, osl, cached = zip(*((isl, osl, min(cached, isl - 1)) for isl, osl, cached in sizes), strict=True)
    kind = draw(st.sampled_from(kinds))
    times = st.lists(st.floats(0, 60), min_size=len(isl), max_size=len(isl))
    arrived_s = sorted(draw(times)) if kind == "open" else None
    clients = draw(st.integers(1, len(isl))) if kind == "closed" else None
    return load(isl, osl, cached, arrived_s, clients)


@st.composite
def cases(draw, kinds=KINDS):
    """(arrivals, policy, max_tokens)"""
    arrivals, policy = draw(loads(kinds)), draw(POLICIES)
    blocks = -(-int((arrivals.isl + arrivals.osl - 1).max()) // policy.block_tokens)
    more = draw(st.one_of(st.none(), st.integers(0, 40)))
    return arrivals, policy, None if more is None else blocks * policy.block_tokens + more


def timed(arrivals, seconds):
    return seconds if arrivals.arrived_s.any() else None


@given(cases())
def test_jumps_agree_with_one_iteration_at_a_time(case):
    arrivals, policy, max_tokens = case
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=timed(arrivals, seconds_of_run))
    slow, requests = reference(arrivals, policy, max_tokens, timed(arrivals, seconds_of_row))
    assert expanded(iterations) == as_rows(slow)
    at = np.cumsum(iterations.repeats) - 1
    assert at[served.first].tolist() == [one.first for one in requests]
    assert at[served.last].tolist() == [one.last for one in requests]
    assert np.where(served.released_by < 0, -1, at[served.released_by]).tolist() == [r.released_by for r in requests]
    assert served.preempted.tolist() == [one.preempted for one in requests]
    if arrivals.arrived_s.any():
        ended_s = ends(iterations, served, seconds_of_run(iterations))
        assert np.allclose(ended_s, [slow[i]["ends"] for i in at])


@given(cases())
def test_all_tokens_are_drawn_and_no_limit_is_passed(case):
    arrivals, policy, max_tokens = case
    iterations, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=timed(arrivals, seconds_of_run))
    drawn = iterations.first_tokens.sum() + (iterations.repeats * iterations.decodes).sum()
    assert drawn == arrivals.osl.sum()
    assert (served.first >= 0).all()
    assert (served.last >= served.first).all()
    alone = ~np.bool_(policy.chunked) & (iterations.chunks == 1) & (iterations.decodes == 0)
    assert (iterations.prompt_tokens + iterations.decodes <= policy.token_budget)[~alone].all()
    assert iterations.decodes.max(initial=0) <= policy.max_requests
    assert (np.diff(served.first) >= 0).all()  # in order of arrival
    assert (iterations.repeats[iterations.chunks > 0] == 1).all()
    if not served.preempted.any():
        assert (iterations.repeats * iterations.decodes).sum() == (arrivals.osl - 1).sum()
        assert iterations.prompt_tokens.sum() == (arrivals.isl - arrivals.cached).sum()


@given(cases())
def test_room_and_seats_are_never_passed(case):
    arrivals, policy, max_tokens = case
    slow, _ = reference(arrivals, policy, max_tokens, timed(arrivals, seconds_of_row))
    assert all(one["free"] >= 0 and one["running"] <= policy.max_requests for one in slow)


@given(cases(kinds=("static", "closed")), st.integers(0, 40))
def test_room_without_end_is_never_later_than_some(case, spare):
    """Some room more may be later, as a request that it admits may soon lose its cache again; and with prompts first,
    prompts that come later may go together."""
    arrivals, policy = case[0], replace(case[1], order="mixed")
    least = -(-int((arrivals.isl + arrivals.osl - 1).max()) // policy.block_tokens) * policy.block_tokens
    tight, _ = serve(arrivals, policy, max_tokens=least + spare)
    free, _ = serve(arrivals, policy)
    assert free.repeats.sum() <= tight.repeats.sum()


@given(cases())
def test_losses_of_the_cache_are_all_told(case):
    arrivals, policy, max_tokens = case
    _, served = serve(arrivals, policy, max_tokens=max_tokens, seconds=timed(arrivals, seconds_of_run))
    told = Counter(served.stalls[:, 0].tolist())
    assert all(told[i] <= lost for i, lost in enumerate(served.preempted.tolist()))
    assert (served.stalls[:, 1] < served.stalls[:, 2]).all()


@pytest.mark.parametrize("order", ORDERS)
def test_the_mean_time_to_the_first_token_rises_with_concurrency(order):
    means = []
    for clients in (1, 2, 4, 8, 16, 32, 64):
        arrivals = ClosedLoop(concurrency=clients, isl=1000, osl=100).arrivals()
        iterations, served = serve(arrivals, Policy(order=order, token_budget=2000))
        means.append(statistics(iterations, served, np.ones(len(iterations)), Factors()).whole.ttft_s.mean)
    assert means == sorted(means)
    assert means[-1] > 2 * means[0]
