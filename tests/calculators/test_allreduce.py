"""All-reduce by algorithm. Expected values are worked out by hand, or are those of the issues that are named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.allreduce import allreduce
from synperf.hardware import gpu
from tests.cli.runner import assert_refused, invoke

LINKS = {"latency_s": 5e-6, "bandwidth": 100e9}
PLAIN = ("allreduce", "--bytes", "1e6", "--ranks", "8", "--latency-s", "5e-6", "--bandwidth", "100e9")


def test_eight_ranks_have_the_steps_volumes_and_sizes_of_a_ring_and_of_trees():
    found = allreduce(bytes=1e6, ranks=8, **LINKS)
    assert (found.ring_steps, found.tree_steps) == (14, 6)
    assert (found.ring_share, found.phase_share) == (1.75, 0.875)  # exact, and what textbooks print
    assert found.crossover_bytes == pytest.approx(0.941e6, rel=1e-3)
    assert found.crossover_pipelined_bytes == pytest.approx(16e6)


@pytest.mark.parametrize(
    ("size", "ring_us", "tree_us", "pipelined_us"),
    [(64e3, 71.1, 33.8, 31.3), (1e6, 87.5, 90, 50), (16e6, 350, 990, 350)],
)
def test_times_of_three_sizes(size, ring_us, tree_us, pipelined_us):
    times = allreduce(bytes=size, ranks=8, **LINKS).times
    assert times["ring"] * 1e6 == pytest.approx(ring_us, abs=0.05)
    assert times["tree"] * 1e6 == pytest.approx(tree_us, abs=0.05)
    assert times["pipelined_tree"] * 1e6 == pytest.approx(pipelined_us, abs=0.05)


def test_two_nodes_of_eight_take_13_84_ms_in_levels():
    network = {"nodes": 2, "network_latency_s": 10e-6, "network_bandwidth": 25e9}
    found = allreduce(bytes=1e9, ranks=16, latency_s=5e-6, bandwidth=200e9, **network)
    assert found.times["hierarchical"] == pytest.approx(13.84e-3, rel=1e-6)
    assert found.times["ring_all_ports"] == pytest.approx(30 * 10e-6 + 1.875 * 1e9 / 200e9)
    assert found.times["ring"] == pytest.approx(30 * 10e-6 + 1.875 * 1e9 / 25e9)


@given(
    st.integers(2, 1000), st.floats(1, 1e12).map(round), st.floats(1e-7, 1e-3), st.floats(1e8, 1e12)
)  # fmt: skip
def test_a_ring_is_faster_than_a_tree_exactly_from_the_crossovers_on(ranks, size, alpha, rate):
    def of(bytes_):
        return allreduce(bytes=max(1, bytes_), ranks=ranks, latency_s=alpha, bandwidth=rate)

    found = of(size)
    for tree, crossing in (("tree", found.crossover_bytes), ("pipelined_tree", found.crossover_pipelined_bytes)):
        if size > crossing * 1.001:
            assert found.times["ring"] <= found.times[tree]
        if size < crossing * 0.999:
            assert found.times["ring"] >= found.times[tree]
    more = of(2 * size)
    assert all(more.times[name] > found.times[name] for name in found.times)


@pytest.mark.parametrize(("ranks", "has"), [(2, True), (3, False), (6, False), (8, True)])
def test_halving_and_doubling_needs_a_power_of_two(ranks, has):
    assert ("halving_doubling" in allreduce(bytes=1e6, ranks=ranks, **LINKS).times) is has


def test_two_ranks_have_no_size_below_which_a_tree_is_faster():
    found = allreduce(bytes=1e6, ranks=2, **LINKS)
    assert (found.crossover_bytes, found.crossover_pipelined_bytes) == (0, 0)
    assert "never faster than a ring" in found.why[2]


def test_three_ranks_have_no_size_from_which_a_ring_is_faster():
    seen = invoke("allreduce", "--bytes", "1MB", "--ranks", "3", "--latency-s", "5us", "--bandwidth", "100GB/s")
    assert "from                any size on is a ring no slower than a tree" in seen.out


def test_a_bus_bandwidth_above_the_link_is_no_error_where_the_switch_adds():
    """https://github.com/NVIDIA/nccl/issues/1374: 8 H100, 480 GB/s over links of 450, 370 without the switch."""
    found = allreduce(bytes=8e9, ranks=8, gpu=gpu("h100_sxm"), busbw=(370e9, 480e9))
    ring, switched = found.measured
    assert ring.algbw == pytest.approx(211.4e9, rel=0.01)
    assert ring.wires[0].of_link == pytest.approx(0.822, rel=0.01)
    assert switched.algbw == pytest.approx(275e9, rel=0.01)
    assert not switched.wires[0].is_possible
    assert (switched.wires[1].share, switched.wires[1].is_possible) == (1.125, True)
    assert switched.wires[1].bytes_per_s == pytest.approx(309.4e9, rel=0.01)
    assert switched.wires[1].of_link == pytest.approx(0.688, rel=0.01)
    assert "no error: the switch added" in found.why[-1]
    assert "309 GB/s on the wire" in found.why[-1]
    assert "1.30 times as fast" in found.advice[-1]
    assert "the link is used less: 68.6 % against 82.2 %" in found.advice[-1]


def test_the_same_of_b300():
    """https://github.com/NVIDIA/nccl/issues/2140."""
    ring, switched = allreduce(bytes=8e9, ranks=8, gpu=gpu("b300_sxm"), busbw=(695e9, 845e9)).measured
    assert ring.wires[0].of_link == pytest.approx(0.772, rel=0.01)
    assert switched.wires[1].bytes_per_s == pytest.approx(543.4e9, rel=0.01)
    assert switched.wires[1].of_link == pytest.approx(0.604, rel=0.01)


def test_more_than_any_algorithm_puts_on_a_link_is_an_error():
    found = allreduce(bytes=8e9, ranks=8, gpu=gpu("a100_sxm"), busbw=(480e9,))  # its switch does not add
    assert "ERROR: more than the link's 300 GB/s carry" in found.why[-1]


def test_a_third_card_beside_a_bridge_brings_the_ring_down_to_pcie():
    """https://github.com/NVIDIA/nccl-tests/issues/178: 208 GB/s over 2 cards, 20 over 3."""
    found = allreduce(bytes=2**30, ranks=3, gpu=gpu("a100_pcie"), link="nvlink_bridge")
    assert found.link == "pcie4"
    assert 12e9 < found.ring_busbw < 26e9
    assert 12e9 < 2**30 * 4 / 3 / found.predicted_s < 26e9
    assert found.times["ring"] == pytest.approx(71.6e-3, rel=0.02)
    assert "nvlink_bridge joins 2 GPUs, so 3 have pcie4 between some of them" in found.why[0]
    assert "2 ranks stay on nvlink_bridge: a ring of them takes 5.19 ms, 13.7 times faster" in found.advice[0]
    pair = allreduce(bytes=2**30, ranks=2, gpu=gpu("a100_pcie"), link="nvlink_bridge")
    assert pair.link == "nvlink_bridge"
    assert pair.ring_busbw == pytest.approx(208e9, rel=0.02)
    assert pair.times["ring"] == pytest.approx(5.16e-3, rel=0.02)


def test_protocols_of_nccl_are_sorted_and_short_messages_take_ll():
    assert allreduce(bytes=4096, ranks=8, gpu=gpu("a100_sxm")).protocols[0].protocol == "ll"
    long = allreduce(bytes=2**30, ranks=8, gpu=gpu("a100_sxm")).protocols
    assert (long[0].algorithm, long[0].protocol) == ("ring", "simple")
    assert [one.time_s for one in long] == sorted(one.time_s for one in long)


def test_the_document_has_the_names_of_the_project():
    found = json.loads(invoke(*PLAIN, "--json").out)
    names = {"ring_s", "tree_s", "pipelined_tree_s", "ring_steps", "tree_steps", "crossover_bytes"}
    assert names | {"crossover_pipelined_bytes"} <= found.keys()
    assert found["ring_s"] == pytest.approx(87.5e-6)


def test_advice_is_what_comes_of_computing_again():
    found = allreduce(bytes=64e3, ranks=8, **LINKS)
    half = allreduce(bytes=64e3, ranks=8, latency_s=2.5e-6, bandwidth=100e9).times[found.fastest]
    assert f"half the latency brings {half * 1e6:.3g} µs" in found.advice[-1]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--bytes": "0"}, "bytes must be"),
        ({"--bytes": "-1MB"}, "bytes must be"),
        ({"--bytes": "many"}, "bytes: 'many' is not a number"),
        ({"--bytes": "1e400"}, "bytes: '1e400' is too large"),
        ({"--ranks": "1"}, "ranks must be 2 or more, got 1"),
        ({"--ranks": "1.5"}, "1.5"),
        ({"--ranks": "0"}, "ranks must be"),
        ({"--latency-s": "nan"}, "latency_s: 'nan' is not a number"),
        ({"--latency-s": "0"}, "latency_s must be above 0"),
        ({"--bandwidth": "100GB"}, "bandwidth: '100GB' is in B; right would be 4.8TB/s"),
        ({"--nodes": "3"}, "ranks must be a multiple of nodes, got 8 and 3"),
        ({"--nodes": "2"}, "network_latency_s: none given"),
        ({"--link": "nvlink4"}, "gpu: none given"),
        ({"--gpu": "h21"}, "no GPU named 'h21'"),
        ({"--gpu": "h100_sxm", "--link": "string"}, "no link named 'string'"),
        ({"--busbw": ""}, "busbw: an empty list"),
        ({"--busbw": "0"}, "busbw[0] must be above 0"),
        ({"--busbw": "1GB/s,x"}, "busbw[1]: 'x' is not a number"),
    ],
)
def test_bad_input_is_one_sentence(changed, said):
    options = dict(zip(PLAIN[1::2], PLAIN[2::2], strict=True)) | changed
    seen = invoke("allreduce", *(part for pair in options.items() for part in pair))
    assert_refused(seen)
    assert said in seen.err


def test_without_links_and_gpu_it_says_what_is_missing():
    with pytest.raises(FieldError, match=r"latency_s: none given; right would be --latency-s 5us, or --gpu NAME"):
        allreduce(bytes=1e6, ranks=8)
