"""Estimates of collectives: what answers, above what floor, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

import synperf
from synperf import Collective, FieldError, UnsupportedError, hardware
from synperf.collectives.algorithms import EXPERTS, SEND_RECV
from synperf.collectives.bandwidth import bus_bytes_per_s
from synperf.collectives.call import OPERATIONS

GIB = 2**30


def of(operation="all_reduce", size=2**20, ranks=8, **more):
    return Collective(operation=operation, bytes=size, ranks=ranks, **more)


def example(operation, **more):
    return of(operation, ranks=2 if operation == SEND_RECV else 8, topk=8 if operation in EXPERTS else None, **more)


def time_s(call, gpu="h100_sxm", **more):
    return synperf.predict(call, gpu, **more).time_s


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("gpu", hardware.keys())
def test_every_operation_on_every_gpu_has_a_time_above_the_floor(operation, gpu):
    e = synperf.predict(example(operation), gpu)
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s < 1
    assert e.origin in ("learned", "analytical")
    assert e.limiter in ("latency", "link", "network")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_a_longer_message_is_never_faster(operation, nodes):
    ranks = 2 if operation == SEND_RECV else 8 * nodes
    where = {"nodes": min(nodes, ranks), "network": "infiniband_ndr"} if nodes > 1 else {}
    call = Collective(
        operation=operation, bytes=np.unique(np.logspace(1, 12, 300).astype(int)), ranks=ranks,
        topk=8 if operation in EXPERTS else None, **where,
    )  # fmt: skip
    e = synperf.predict(call, "h100_sxm")
    assert (np.diff(e.time_s) >= -1e-12 * e.time_s[1:]).all()
    assert (e.time_s >= e.floor_s).all()


def test_columns_are_the_single_calls():
    sizes, ranks = np.array([512, 2**20, 2**36, 2**20]), np.array([2, 8, 6, 4])
    columns = synperf.predict(of(size=sizes, ranks=ranks), "h100_sxm")
    singles = [
        synperf.predict(of(size=s, ranks=n), "h100_sxm") for s, n in zip(sizes.tolist(), ranks.tolist(), strict=True)
    ]
    for name in ("time_s", "low_s", "high_s", "floor_s", "efficiency", "limiter", "extrapolating"):
        assert getattr(columns, name).tolist() == [getattr(one, name) for one in singles]
    assert columns.outside == [one.outside for one in singles]


def test_what_is_beyond_measured_messages_is_said():
    assert synperf.predict(of(), "h100_sxm").outside == ()
    assert synperf.predict(of(size=100 * GIB), "h100_sxm").outside == ("bytes",)
    assert synperf.predict(of(ranks=6), "h100_sxm").outside == ("ranks",)


def test_beyond_the_largest_measured_message_time_grows_with_the_bytes():
    assert time_s(of(size=64 * GIB)) / time_s(of(size=32 * GIB)) == pytest.approx(2, rel=0.01)


def test_an_engine_has_its_own_all_reduce_which_is_faster_for_short_messages():
    own = synperf.predict(of(engine="vllm"), "h100_sxm")
    assert (own.engine, own.kernel) == ("vllm", "custom_all_reduce")
    assert own.time_s < time_s(of())
    assert synperf.predict(of("all_gather", engine="vllm"), "h100_sxm").kernel == "nccl"


def test_asking_for_one_algorithm_gives_nccl_s_own_model_of_it():
    e = synperf.predict(of(algorithm="ring", protocol="ll", size=8), "a100_sxm")
    assert e.origin == "analytical"
    assert e.time_s == pytest.approx(15.0e-6, rel=1e-3)


def test_the_gpu_that_nobody_measured_is_analytical_and_says_so():
    e = synperf.predict(of(), "v100_sxm")
    assert e.origin == "analytical"
    assert any("nobody measured all_reduce there" in said for said in e.assumptions)
    assert e.low_s < e.time_s < e.high_s


@pytest.mark.parametrize(
    ("gpu", "ranks", "size", "time_us"),
    [
        ("a100_sxm", 2, 64 * 2**20, 416.4), ("a100_sxm", 4, 64 * 2**20, 586.8), ("a100_sxm", 8, 64 * 2**20, 675.8),
        ("a100_sxm", 8, 1_073_666_050, 8238), ("h20", 4, 1_073_666_050, 4549), ("h20", 8, 1_073_666_050, 4218),
        ("h800", 8, 16 * 2**20, 201.7), ("h800", 8, 1_073_666_050, 8867), ("rtx_6000_ada", 2, 1_073_666_050, 93_987),
        ("rtx_pro_6000_server", 2, 1_073_666_050, 28_943), ("rtx_pro_6000_server", 4, 64 * 2**20, 4529),
    ],
)  # fmt: skip
def test_published_medians_of_nccl_are_met(gpu, ranks, size, time_us):
    assert time_s(of(size=size, ranks=ranks, kernel="nccl_eager"), gpu) == pytest.approx(time_us * 1e-6, rel=0.05)


def test_send_and_receive_of_two_ranks():
    for gpu, time_us in (("a100_sxm", 290.3), ("h20", 193.0), ("h800", 417.2)):
        assert time_s(of("send_recv", 64 * 2**20, 2), gpu) == pytest.approx(time_us * 1e-6, rel=0.05)


def test_a_third_bridged_card_brings_the_ring_down_to_pcie():
    two, three = (synperf.predict(of(size=GIB, ranks=n, link="nvlink_bridge"), "a100_pcie") for n in (2, 3))
    assert 180e9 < bus_bytes_per_s("all_reduce", GIB, 2, two.time_s) < 240e9
    assert 12e9 < bus_bytes_per_s("all_reduce", GIB, 3, three.time_s) < 26e9
    assert any("joins 2 GPUs, so 3 have pcie4" in said for said in three.assumptions)


def test_experts_of_a_token_on_one_rank_are_reached_with_one_copy():
    few, many = (time_s(of("moe_dispatch", 2**28, topk=k, dtype="fp8", engine="sglang")) for k in (2, 8))
    assert 1 < many / few < 4


def test_between_nodes_the_network_is_named_or_asked_for():
    with pytest.raises(
        FieldError, match="network: none given for 16 ranks on 2 nodes; right would be such as network="
    ):
        time_s(of(ranks=16))
    e = synperf.predict(of(ranks=16, size=GIB, network="infiniband_ndr"), "h100_sxm")
    assert (e.limiter, e.origin) == ("network", "analytical")
    assert 0.004 < e.time_s < 0.009  # 2 x 15/16 GiB over eight ports of 50 GB/s is 5 ms


def test_one_rank_a_node_has_one_port():
    e = synperf.predict(of("send_recv", 10**9, 2, nodes=2, network="infiniband_ndr"), "h100_sxm")
    assert e.time_s == pytest.approx(1e9 / (50e9 * 0.9), rel=0.02)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"link": "infiniband_ndr"}, "link: infiniband_ndr joins nodes; right would be network=infiniband_ndr"),
        ({"ranks": 16, "nodes": 1}, "nodes: nvlink4 joins 8 GPUs of a node, got 16"),
        ({"engine": "llamacpp"}, "engine: no engine named 'llamacpp'"),
        ({"kernel": "rccl"}, "kernel: no kernel of all_reduce named 'rccl'"),
    ],
)
def test_what_does_not_go_together_gets_one_sentence(more, sentence):
    with pytest.raises(FieldError, match=sentence):
        time_s(of(**more))


def test_an_algorithm_that_is_not_there_gets_one_sentence():
    with pytest.raises(UnsupportedError, match="algorithm: all_reduce there has ring, tree, got 'nvls'"):
        time_s(of(algorithm="nvls"), "a100_sxm")
    with pytest.raises(UnsupportedError, match="protocol: nvls has no ll there"):
        time_s(of(algorithm="nvls", protocol="ll"))


def test_a_gpu_without_rates_of_links_gets_one_sentence():
    bare = replace(hardware.gpu("l4"), key="bare", pcie_bytes_per_s=0.0)
    with pytest.raises(UnsupportedError, match="link: bare has neither"):
        time_s(of(), bare)
    assert time_s(of(link="pcie4"), bare) > 0


def test_options_of_kernels_are_refused():
    with pytest.raises(FieldError, match="calibration: it is for kernels; right would be none for all_reduce"):
        time_s(of(), calibration="some.json")
    with pytest.raises(FieldError, match="origin: no estimator of collectives named 'measured'"):
        time_s(of(), origin="measured")


def test_a_table_may_hold_collectives_and_kernels():
    rows = [
        {"family": "all_reduce", "bytes": 2**20, "ranks": 8},
        {"family": "gemm", "m": 1, "n": 2, "k": 3},
        {"family": "all_reduce", "bytes": 2**21, "ranks": 8},
    ]
    found = synperf.predict(rows, "h100_sxm")
    assert [row["family"] for row in found] == ["all_reduce", "gemm", "all_reduce"]
    assert found[0]["time_s"] == time_s(of())
    assert found[0]["time_s"] < found[2]["time_s"]


def test_a_better_network_never_slows_a_collective():
    slow, fast = (time_s(of(ranks=32, size=GIB, network=name)) for name in ("infiniband_hdr", "infiniband_ndr"))
    assert fast < slow
