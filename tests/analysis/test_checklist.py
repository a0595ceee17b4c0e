"""The check list: 24 items in four groups of six, 16 traps; pass, fail, or unknown with the reason."""

from collections import Counter
from dataclasses import replace

import pytest

import synperf
from synperf.analysis.checklist import checklist, items
from synperf.analysis.checks import LOOKS, message_times
from synperf.analysis.collectives import Across, Arrival, Collective
from synperf.analysis.facts import Facts

from ..traces.kineto_files import kernel, read
from .references import KINETO, trace
from .test_geometry import SHAPE, V100


def of(facts, key):
    return next(one for one in checklist(facts) if one.key == key)


def test_there_are_24_items_in_four_groups_of_six_and_16_traps():
    groups = Counter((item["kind"], item["group"]) for item in items())
    names = ("gpu", "tensor", "inference", "distributed")
    assert groups == {("item", name): 6 for name in names} | {("trap", name): 4 for name in names}
    assert len({item["key"] for item in items()}) == 40
    assert {item["look"] for item in items() if "look" in item} == set(LOOKS)
    assert all(("look" in item) != ("unknown" in item) for item in items())


def test_of_nothing_everything_is_unknown_and_says_why():
    assert {one.state for one in checklist(Facts())} == {"unknown"}
    assert all(one.reason for one in checklist(Facts()))


@pytest.mark.parametrize(("threads", "state"), [(100, "fail"), (96, "pass"), (1, "fail")])
def test_a_block_of_100_threads_fails(tmp_path, threads, state):
    made = read(tmp_path, [kernel("k", 0, 5, **{**SHAPE, "block": [threads, 1, 1]})], **V100)
    (one,) = (one for one in synperf.analyze(made).checks if one.key == "block_size")
    assert one.state == state
    assert (f"{threads} threads" in one.reason) == (state == "fail")


def test_small_messages_on_a_ring_of_8_take_longer_than_on_a_tree():
    """alpha 5 µs, 100 GB/s: 64 kB take 71.1 µs on a ring and 33.8 on a tree, 1 MB 87.5 and 90."""
    assert message_times(64e3, 8, 5e-6, 100e9) == pytest.approx((71.12e-6, 33.84e-6))
    assert message_times(1e6, 8, 5e-6, 100e9) == pytest.approx((87.5e-6, 90e-6))


@pytest.mark.parametrize(("size", "state"), [(4096, "fail"), (2**20, "pass")])
def test_a_message_of_4_kb_on_a_ring_is_a_trap_and_both_times_are_told(size, state):
    ranks = tuple(Arrival(rank=rank, offset_ns=0, waited_ns=0, dur_ns=1) for rank in range(8))
    one = Collective(
        name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", group="", start_ns=0, spread_ns=0, alone_ns=0, transfer_ns=1,
        end_skew_ns=0, last_rank=0, bytes=size, algbw_bytes_per_s=None, busbw_bytes_per_s=None, arrivals=ranks,
    )  # fmt: skip
    facts = Facts(across=Across(collectives=(one,), late=(), cautions=()))
    found = of(facts, "small_messages_on_a_ring")
    assert found.state == state
    assert ("70.1 µs on a ring, 30.2 µs on a tree" in found.reason) == (state == "fail")
    unsaid = replace(one, bytes=None)
    assert of(Facts(across=Across(collectives=(unsaid,), late=(), cautions=())), "message_size").state == "unknown"


def test_transposes_are_counted():
    found = synperf.analyze(trace("resnet_ddp_mi300_rank0of8"))
    checks = {one.key: one for one in found.checks}
    assert checks["transposes"].state == checks["layout_transposes"].state == "fail"
    assert "999 transposes" in checks["transposes"].reason
    assert checks["overlap"].state == "fail"
    assert checks["block_size"].state == "unknown"  # HIP records no registers


def test_formats_and_memory_of_a_real_trace_are_judged():
    checks = {one.key: one.state for one in synperf.analyze(trace("qwen05b_h100_infer")).checks}
    assert (checks["precision"], checks["alignment"], checks["fragmentation"]) == ("pass", "pass", "fail")
    checks = {one.key: one.state for one in synperf.analyze(trace("resnet50_v100_dataloader0")).checks}
    assert (checks["precision"], checks["fragmentation"], checks["async_copies"]) == ("fail", "unknown", "fail")


def test_ranks_of_a_job_are_judged_together():
    ranks = [trace(name) for name in KINETO if name.startswith("dlrm")]
    checks = {one.key: one for one in synperf.analyze(ranks).checks}
    assert checks["late_ranks"].state == "fail"
    assert checks["imbalance"].state in ("pass", "fail")
    assert checks["topology"].state == "unknown"
