"""Collectives across ranks: who is last, what it costs, how fast the transfer is."""

import pytest

from synperf.analysis import analyze
from synperf.analysis.collectives import across, findings

from ..traces.kineto_files import kernel, read
from .references import DLRM, document, path, trace

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def rank(folder, number, kernels):
    return read(folder, kernels, distributedInfo={"rank": number, "world_size": 2})


def moved(elements):
    return {"Collective name": "allreduce", "In msg nelems": elements, "Out msg nelems": elements, "dtype": "Float",
            "Group size": 2, "Process Group Name": "0"}  # fmt: skip


def test_the_rank_with_the_shortest_kernel_is_the_late_one(tmp_path):
    ranks = [
        rank(tmp_path, 0, [kernel(NCCL, 0, 100, **moved(1000))]),
        rank(tmp_path, 1, [kernel(NCCL, 80, 20, **moved(1000))]),
    ]
    (found,) = across(ranks).collectives
    assert (found.last_rank, found.spread_ns, found.alone_ns, found.transfer_ns) == (1, 80_000, 80_000, 20_000)
    assert [one.waited_ns for one in found.arrivals] == [80_000, 0]
    assert (found.bytes, found.algbw_bytes_per_s) == (4000, pytest.approx(2e8))
    assert found.busbw_bytes_per_s == pytest.approx(2e8)  # 2 (n - 1) / n is 1 of two ranks


def test_collectives_match_by_group_and_order(tmp_path):
    """The same two groups, in another order on the other rank."""
    first = [kernel(NCCL, 0, 10, **moved(8) | {"Process Group Name": g}) | {"ts": t} for g, t in (("a", 0), ("b", 50))]
    second = [kernel(NCCL, 0, 10, **moved(8) | {"Process Group Name": g}) | {"ts": t} for g, t in (("b", 0), ("a", 50))]
    found = across([rank(tmp_path, 0, first), rank(tmp_path, 1, second)])
    assert {one.group: one.last_rank for one in found.collectives} == {"a": 1, "b": 0}


def test_what_not_all_ranks_have_is_told(tmp_path):
    found = across(
        [rank(tmp_path, 0, [kernel(NCCL, t, 10) for t in (0, 50)]), rank(tmp_path, 1, [kernel(NCCL, 0, 10)])]
    )
    assert (len(found.collectives), [one.count for one in found.cautions]) == (1, [1])


def test_ends_that_are_apart_are_told(tmp_path):
    found = across([rank(tmp_path, 0, [kernel(NCCL, 0, 100)]), rank(tmp_path, 1, [kernel(NCCL, 5000, 100)])])
    assert any("end together" in one.text for one in found.cautions)


def test_one_rank_is_not_across(tmp_path):
    one = rank(tmp_path, 0, [kernel(NCCL, 0, 100)])
    assert across([one]) is None
    assert [unseen.question for unseen in analyze(one).unseen][-2:] == ["steps", "collectives across ranks"]


def test_the_eight_ranks_of_dlrm_equal_the_reference():
    right = document("reference_other")[DLRM]["collectives"]
    found = across([trace(f"{DLRM}/rank{rank}") for rank in range(8)])
    for one, other in zip(found.collectives, right, strict=True):
        assert one.last_rank == other["last_rank"]
        assert [arrival.offset_ns for arrival in one.arrivals] == [1000 * us for us in other["start_offset_us"]]
        assert [arrival.dur_ns for arrival in one.arrivals] == [1000 * us for us in other["dur_us"]]
        assert one.end_skew_ns == 1000 * other["end_skew_us"]


def test_rank_7_of_dlrm_is_late_at_five_rank_5_at_two_and_rank_4_at_one():
    found = across([trace(f"{DLRM}/rank{rank}") for rank in range(8)])
    assert [(one.rank, one.times_last) for one in found.late] == [(7, 5), (5, 2), (4, 1)]
    (finding,) = findings(found)
    assert (finding.title, finding.rank) == ("Rank 7 is late", 7)
    assert "35.55 ms" in finding.evidence


@pytest.mark.parametrize("count", [2, 8])
def test_the_files_of_ranks_are_analysed_together(count):
    found = analyze([path(f"{DLRM}/rank{rank}") for rank in range(count)])
    assert [one.rank for one in found.overlaps] == list(range(count))
    assert len(found.across.collectives) == 8
