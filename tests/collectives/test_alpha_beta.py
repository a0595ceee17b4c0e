"""Textbook costs and bandwidths, worked out by hand."""

import pytest

from synperf.collectives.alpha_beta import (
    crossover_bytes,
    crossover_pipelined_bytes,
    double_tree_all_reduce_s,
    halving_doubling_s,
    hierarchical_all_reduce_s,
    pipelined_broadcast_s,
    recursive_doubling_s,
    ring_all_reduce_s,
    ring_half_s,
    tree_all_reduce_s,
)
from synperf.collectives.bandwidth import algorithm_bytes_per_s, bus_bytes_per_s, bus_share, wire_bytes_per_s

ALPHA_S, RATE = 5e-6, 100e9


@pytest.mark.parametrize(
    ("size", "ring_us", "tree_us", "double_tree_us"),
    [(64e3, 71.1, 33.8, 31.3), (1e6, 87.5, 90.0, 50.0), (16e6, 350.0, 990.0, 350.0)],
)
def test_eight_ranks_of_five_microseconds_and_100_gb_per_s(size, ring_us, tree_us, double_tree_us):
    assert ring_all_reduce_s(size, 8, ALPHA_S, RATE) == pytest.approx(ring_us * 1e-6, rel=2e-3)
    assert tree_all_reduce_s(size, 8, ALPHA_S, RATE) == pytest.approx(tree_us * 1e-6, rel=2e-3)
    assert double_tree_all_reduce_s(size, 8, ALPHA_S, RATE) == pytest.approx(double_tree_us * 1e-6, rel=2e-3)


def test_a_ring_is_faster_than_a_tree_from_the_crossover_on():
    size = crossover_bytes(8, ALPHA_S, RATE)
    assert size == pytest.approx(1.882 * ALPHA_S * RATE, rel=1e-3)
    assert ring_all_reduce_s(size, 8, ALPHA_S, RATE) == pytest.approx(tree_all_reduce_s(size, 8, ALPHA_S, RATE))


def test_a_ring_is_faster_than_a_pipelined_tree_from_its_crossover_on():
    size = crossover_pipelined_bytes(8, ALPHA_S, RATE)
    assert size == pytest.approx(32 * ALPHA_S * RATE)
    assert ring_all_reduce_s(size, 8, ALPHA_S, RATE) == pytest.approx(double_tree_all_reduce_s(size, 8, ALPHA_S, RATE))


def test_two_nodes_of_eight_reduce_a_gigabyte_in_13_84_ms():
    found = hierarchical_all_reduce_s(1e9, 8, 2, 5e-6, 200e9, 10e-6, 25e9)
    assert found == pytest.approx(70e-6 + 8.75e-3 + 20e-6 + 5e-3)
    assert found == pytest.approx(13.84e-3, rel=1e-3)


def test_the_others_of_four_ranks_a_second_a_step_and_a_byte_per_second():
    assert ring_half_s(8, 4, 1, 1) == 3 + 6
    assert pipelined_broadcast_s(8, 4, 1, 1) == 3 + 8
    assert recursive_doubling_s(8, 4, 1, 1) == 2 * (1 + 8)
    assert halving_doubling_s(8, 4, 1, 1) == 4 + 12


def test_bus_bandwidth_of_eight_ranks_is_that_of_nccl_tests():
    assert algorithm_bytes_per_s(1e9, 8.238e-3) == pytest.approx(121.4e9, rel=1e-3)
    assert bus_bytes_per_s("all_reduce", 1e9, 8, 8.238e-3) == pytest.approx(212.4e9, rel=1e-3)
    assert bus_bytes_per_s("all_reduce", 1_073_666_050, 8, 8.238e-3) == pytest.approx(228.1e9, rel=1e-3)
    assert [bus_share(name, 8) for name in ("reduce_scatter", "all_gather", "all_to_all")] == [7 / 8] * 3
    assert (bus_share("broadcast", 8), bus_share("send_recv", 2)) == (1, 1)


@pytest.mark.parametrize(
    ("ranks", "time_us", "bus_gb_per_s"),
    [
        (2, 5401, 198.8), (4, 7279, 221.3), (8, 8238, 228.1), (2, 9220, 116.5), (4, 4996, 322.4), (4, 4549, 354.0),
        (8, 4218, 445.5), (8, 8867, 211.9), (2, 93_987, 11.4), (2, 28_943, 37.1), (4, 69_196, 23.3),
    ],
)  # fmt: skip
def test_bus_bandwidth_of_every_measured_gigabyte(ranks, time_us, bus_gb_per_s):
    found = bus_bytes_per_s("all_reduce", 1_073_666_050, ranks, time_us * 1e-6)
    assert found == pytest.approx(bus_gb_per_s * 1e9, rel=3e-3)


@pytest.mark.parametrize(
    ("link", "ring", "nvls", "wire", "share"), [(450, 370, 275, 309.4, 0.688), (900, 695, 483, 543.4, 0.604)]
)
def test_bus_bandwidth_above_the_link_is_no_error_where_the_switch_adds(link, ring, nvls, wire, share):
    time_s = 1e9 / (nvls * 1e9)
    crossed = wire_bytes_per_s("all_reduce", "nvls", 1e9, 8, time_s)
    assert crossed == pytest.approx(wire * 1e9, rel=0.01)
    assert crossed / (link * 1e9) == pytest.approx(share, rel=0.01)
    assert bus_bytes_per_s("all_reduce", 1e9, 8, time_s) / 1e9 == pytest.approx(1.75 * nvls)
    ring_s = 1e9 * 1.75 / (ring * 1e9)
    assert wire_bytes_per_s("all_reduce", "ring", 1e9, 8, ring_s) == pytest.approx(ring * 1e9)
