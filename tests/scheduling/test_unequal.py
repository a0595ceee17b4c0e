"""Unequal tasks: closed forms against the simulation, on the tiles of attention and on random lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf.scheduling import TaskGroups, hardware, schedule, software, unequal

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=300)
sms = st.integers(1, 40)
RAMP = np.arange(32, 0, -1.0)  # tiles of a causal square of 4,096 with tiles of 128, the longest first


def bound_of(cost, num_sms):
    return unequal.counted_by_length(np.asarray(cost), np.ones(len(cost)), num_sms)


def test_one_tile_per_sm_waits_for_the_longest():
    assert unequal.longest_first(528.0, bound_of(RAMP, 32), 32) == 32
    mean = 528 / 32
    assert 32 / mean == pytest.approx(1.94, abs=0.005)


def test_longest_first_evens_a_causal_square_out():
    assert unequal.longest_first(528.0, bound_of(RAMP, 16), 16) == 33
    assert software.longest_first(RAMP, 16).makespan == 33


@given(st.integers(1, 5000), sms, st.integers(1, 50))
def test_identical_tasks_are_counted_exactly(count, num_sms, length):
    most = length * hardware.busiest_sm_tasks(count, num_sms)
    assert unequal.counted(lambda i: length + 0.0 * i, float(count), num_sms) == most
    assert unequal.counted_by_length(np.full(count, length), np.ones(count), num_sms) == most
    assert unequal.in_order(float(count * length), float(count), length, most, num_sms) == most


@given(lengths, sms)
def test_counting_never_exceeds_what_any_schedule_takes(cost, num_sms):
    bound = bound_of(cost, num_sms)
    assert max(cost) <= bound
    for placed in (software.longest_first(cost, num_sms), hardware.simulate(cost, num_sms)):
        assert bound <= placed.makespan
        assert placed.loads.sum() == sum(cost)


@given(lengths, sms)
def test_both_schedulers_stay_between_the_mean_load_and_grahams_bound(cost, num_sms):
    total, longest, bound = float(sum(cost)), max(cost), bound_of(cost, num_sms)
    found = unequal.longest_first(total, bound, num_sms), unequal.in_order(total, len(cost), longest, bound, num_sms)
    for busiest in found:
        assert max(total / num_sms, longest) <= busiest * (1 + 1e-12)
        assert busiest <= (total / num_sms + longest * (1 - 1 / num_sms)) * (1 + 1e-12)


@given(lengths, st.integers(1, 60), sms)
def test_one_task_more_or_longer_never_makes_less_work(cost, more, num_sms):
    def both(c):
        bound = bound_of(c, num_sms)
        return unequal.longest_first(sum(c), bound, num_sms), unequal.in_order(sum(c), len(c), max(c), bound, num_sms)

    before = both(cost)
    for grown in ([*cost, more], [cost[0] + more, *cost[1:]]):
        assert all(b <= a * (1 + 1e-12) for b, a in zip(before, both(grown), strict=True))


@given(st.integers(1, 200), st.integers(0, 40), st.integers(1, 30), st.integers(1, 12), sms)
@settings(max_examples=400)
def test_a_ramp_is_counted_as_its_tasks_one_by_one(tiles, rise, least, copies, num_sms):
    """With the mean load beside it, which is what stands for waves that are not looked at."""
    steps = least + rise * np.arange(tiles)[::-1] // 8
    cost = np.repeat(steps, copies)

    def length(i):
        return steps[np.minimum(np.floor(i / copies), tiles - 1).astype(int)]

    closed = unequal.counted(length, 1.0 * len(cost), num_sms)
    assert max(closed, cost.sum() / num_sms) == max(bound_of(cost, num_sms), cost.sum() / num_sms)


def test_the_closed_forms_are_near_the_simulation_of_causal_tiles():
    errors = {"longest_first": [], "in_order": []}
    for heads in (1, 3, 8, 32, 70):
        for tiles in (4, 16, 32, 100):
            for num_sms in (78, 108, 132):
                up = np.tile(np.arange(1, tiles + 1), heads)
                total, bound = float(up.sum()), bound_of(up, num_sms)
                first = unequal.longest_first(total, bound, num_sms)
                errors["longest_first"].append(first / software.longest_first(up, num_sms).makespan - 1)
                order = unequal.in_order(total, len(up), tiles, bound, num_sms)
                errors["in_order"].append(order / hardware.simulate(up, num_sms).makespan - 1)
    assert np.abs(errors["longest_first"]).mean() < 0.02
    assert np.abs(errors["in_order"]).mean() < 0.10


@given(st.integers(0, 60), st.integers(1, 50), st.integers(0, 90), st.integers(0, 300))
def test_the_sum_of_floors_is_that_of_a_loop(n, m, a, b):
    expected = sum((a * i + b) // m for i in range(n))
    assert unequal.floor_sum(n, m, a, b) == expected
    assert unequal.floor_sum(np.array([n, n]), np.array([m, 7]), a, b)[0] == expected


def test_the_load_of_unequal_tasks_is_what_the_family_says():
    load = schedule(TaskGroups(count=32.0, sm_max_tasks=2.0), num_sms=32)
    assert (load.sm_max_tasks, load.imbalance) == (2.0, 2.0)
