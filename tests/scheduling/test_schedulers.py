"""Placement of tasks on SMs: cases worked out by hand, laws on random tasks, closed forms against the simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.scheduling import TaskGroups, hardware, schedule, software

UNEVEN = [4, 1, 1, 1, 1, 1, 1, 2]
costs = st.lists(st.integers(1, 50), min_size=1, max_size=200)
sms = st.integers(1, 20)


def test_a_freed_sm_takes_the_next_cta():
    placed = hardware.simulate(UNEVEN, num_sms=4)
    assert placed.loads.tolist() == [4, 4, 2, 2]
    assert placed.makespan == 4


def test_static_stride_does_not_look_at_what_is_free():
    assert software.static_stride(UNEVEN, 4).loads.tolist() == [5, 2, 2, 3]
    assert software.static_stride(UNEVEN, 4).makespan == 5


def test_longest_first_evens_out():
    placed = software.longest_first(UNEVEN, 4)
    assert sorted(placed.loads.tolist(), reverse=True) == [4, 3, 3, 2]
    assert placed.makespan == 4


def test_every_sm_gets_one_cta_before_any_gets_two():
    placed = hardware.simulate([1] * 5, num_sms=4, ctas_per_sm=2)
    assert placed.counts.tolist() == [2, 1, 1, 1]
    assert placed.makespan == 1  # the two of SM 0 run side by side


@pytest.mark.parametrize(("ctas", "num_sms", "most"), [(1024, 108, 10), (6144, 108, 57), (512, 132, 4)])
def test_the_busiest_sm_of_identical_ctas(ctas, num_sms, most):
    assert hardware.busiest_sm_tasks(ctas, num_sms) == most


def test_512_tiles_on_132_workers_are_three_or_four_each():
    counts = software.static_stride([1] * 512, 132).counts
    assert (counts.min(), counts.max(), counts.sum()) == (3, 4, 512)
    assert software.busiest_worker_tiles(512, software.num_workers(512, 132)) == 4


@pytest.mark.parametrize(
    ("ctas", "num_sms", "efficiency", "tail"),
    [(1024, 108, 0.948, 52 / 108), (512, 132, 0.9697, 116 / 132), (109, 108, 0.505, 1 / 108)],
)
def test_wave_quantization(ctas, num_sms, efficiency, tail):
    assert hardware.wave_efficiency(ctas, num_sms, 1) == pytest.approx(efficiency, abs=5e-4)
    assert hardware.tail(ctas, num_sms, 1) == pytest.approx(tail)


def test_one_cta_past_a_full_wave_costs_a_second_wave():
    full, spill = (schedule(TaskGroups(count=count), num_sms=10) for count in (10, 11))
    assert (full.waves, full.wave_efficiency, full.sm_max_tasks) == (1.0, 1.0, 1)
    assert (spill.waves, spill.wave_efficiency, spill.sm_max_tasks) == (1.1, 0.55, 2)


@given(costs, sms, st.integers(1, 4))
def test_work_is_conserved_and_bounded(cost, num_sms, ctas_per_sm):
    for placed in (
        hardware.simulate(cost, num_sms, ctas_per_sm),
        software.static_stride(cost, num_sms),
        software.queue(cost, num_sms),
        software.longest_first(cost, num_sms),
    ):
        assert placed.loads.sum() == sum(cost)
        assert placed.counts.sum() == len(cost)
        assert placed.loads.max() >= sum(cost) / num_sms
        assert placed.makespan >= max(cost)


@given(costs, sms)
def test_list_scheduling_stays_within_grahams_bound(cost, num_sms):
    for placed in (hardware.simulate(cost, num_sms), software.longest_first(cost, num_sms)):
        assert placed.makespan <= sum(cost) / num_sms + max(cost)


@given(costs, sms)
def test_tasks_of_one_worker_do_not_overlap(cost, num_sms):
    for placed in (
        hardware.simulate(cost, num_sms),
        software.static_stride(cost, num_sms),
        software.longest_first(cost, num_sms),
    ):
        for sm in range(num_sms):
            mine = np.flatnonzero(placed.sm == sm)
            order = mine[np.argsort(placed.start[mine])]
            ends = placed.start[order] + placed.cost[order]
            assert (placed.start[order][1:] >= ends[:-1]).all()


@given(st.integers(1, 3000), st.integers(1, 150), st.integers(1, 8), st.integers(1, 9))
def test_closed_forms_equal_the_simulation_for_identical_tasks(count, num_sms, ctas_per_sm, cost):
    placed = hardware.simulate([cost] * count, num_sms, ctas_per_sm)
    load = schedule(TaskGroups(count=count, ctas_per_sm=ctas_per_sm), num_sms)
    assert placed.counts.max() == load.sm_max_tasks
    started = np.unique(placed.start)
    assert len(started) == -(-count // (num_sms * ctas_per_sm))
    assert (placed.start == started[-1]).sum() / (num_sms * ctas_per_sm) == pytest.approx(load.tail)
    assert software.static_stride([cost] * count, num_sms).counts.max() == load.sm_max_tasks


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20), st.integers(1, 200), st.integers(1, 8))
def test_columns_and_single_calls_agree(counts, num_sms, ctas_per_sm):
    many = schedule(TaskGroups(count=np.array(counts, dtype=float), ctas_per_sm=ctas_per_sm), num_sms)
    for i, count in enumerate(counts):
        one = schedule(TaskGroups(count=count, ctas_per_sm=ctas_per_sm), num_sms)
        for name in ("tasks", "sm_max_tasks", "waves", "wave_efficiency", "tail"):
            assert getattr(many, name)[i] == getattr(one, name)


def test_tasks_spread_evenly_are_cut_where_a_worker_is_full():
    placed = software.evenly([3, 1, 4], workers=4, most=2.0)
    assert placed.sm.tolist() == [0, 1, 1, 2, 3]
    assert placed.cost.tolist() == [2, 1, 1, 2, 2]
    assert placed.start.tolist() == [0, 0, 1, 0, 0]
    assert software.evenly([1, 1], workers=4, most=1.0).counts.tolist() == [1, 1, 0, 0]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=100), st.integers(1, 200))
def test_spread_evenly_every_worker_has_the_mean(cost, workers):
    mean = sum(cost) / workers
    placed = software.evenly(cost, workers, mean)
    assert placed.loads == pytest.approx(np.full(workers, mean))
    assert len(placed.cost) <= len(cost) + workers
