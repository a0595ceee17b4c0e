"""NCCL's own model: latencies of its source, and what wins."""

import pytest

from synperf import hardware
from synperf.collectives import tuning
from synperf.collectives.place import Place
from synperf.hardware.links import link, network


def place(ranks=8, nodes=1, gpu="a100_sxm", name="nvlink3"):
    between = network("infiniband_hdr") if nodes > 1 else None
    return Place(gpu=hardware.gpu(gpu), link=link(name), network=between, ranks=ranks, nodes=nodes)


def latency_us(algorithm, protocol, where):
    found = next(t for t in tuning.terms("all_reduce", where) if (t.algorithm, t.protocol) == (algorithm, protocol))
    return found.latency_s("all_reduce", where.ranks, where.nodes) * 1e6


@pytest.mark.parametrize(
    ("algorithm", "protocol", "expected"),
    [
        ("ring", "ll", 15.0), ("ring", "ll128", 40.6), ("ring", "simple", 56.0),
        ("tree", "ll", 15.2), ("tree", "ll128", 31.5), ("tree", "simple", 392.0),
    ],
)  # fmt: skip
def test_latencies_of_eight_ranks_on_nvlink(algorithm, protocol, expected):
    assert latency_us(algorithm, protocol, place()) == pytest.approx(expected)


def test_between_nodes_some_steps_take_the_hop_of_the_network():
    assert latency_us("ring", "ll", place(16, 2)) == pytest.approx(6.6 + 26 * 0.6 + 4 * 2.7)
    assert latency_us("tree", "ll", place(16, 2)) == pytest.approx(6.8 + 2 * (7 * 0.6 + 1 * 5.0))


def test_stores_of_128_bytes_need_nvlink():
    assert "ll128" not in {t.protocol for t in tuning.terms("all_reduce", place(2, gpu="a40", name="pcie4"))}


def test_the_switch_adds_from_hopper_on_and_for_more_than_two():
    def algorithms(where):
        return {t.algorithm for t in tuning.terms("all_reduce", where)}

    assert "nvls" not in algorithms(place())
    assert "nvls" in algorithms(place(gpu="h100_sxm", name="nvlink4"))
    assert "nvls" not in algorithms(place(2, gpu="h100_sxm", name="nvlink4"))


def test_in_two_levels_a_byte_takes_both_links():
    where = place(16, 2)
    term = next(t for t in tuning.terms("all_reduce", where) if (t.algorithm, t.protocol) == ("hierarchical", "simple"))
    inside, between = 300e9 * where.link.efficiency, 25e9 * where.network.efficiency
    assert term.s_per_byte == pytest.approx(2 * 7 / 8 / inside + 2 * 1 / 2 / 8 / between)
