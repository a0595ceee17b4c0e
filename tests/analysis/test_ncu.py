"""What counters of a kernel say, and what to do about it."""

import pytest

from synperf.analysis.ncu import analyze_counters
from synperf.traces.records.ncu_csv import NcuReport, read

from ..traces.shared_files import real, reference
from .test_ncu_metrics import profile

LOAD = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"
REQUEST = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def counted(**metrics):
    report = NcuReport(source="a", shape="wide", kernels=(profile(**metrics),), cautions=())
    return analyze_counters(report).kernels[0]


def titles(**metrics):
    return [finding.title for finding in counted(**metrics).findings]


def limits(**allowed):
    return {f"launch__occupancy_limit_{name}": value for name, value in allowed.items()}


def test_fewer_than_one_eligible_warp_is_latency_bound():
    names = ("smsp__warps_active", "smsp__warps_eligible", "smsp__issue_active")
    found = counted(**{f"{n}.avg.per_cycle_active": v for n, v in zip(names, (8, 0.6, 0.45), strict=True)})
    assert [f.title for f in found.findings] == ["Schedulers run out of warps that can issue: latency bound"]
    assert found.findings[0].evidence.startswith("8 active, 0.6 eligible, 0.45 issued")


def test_one_eligible_warp_is_enough():
    assert titles(**{"Eligible Warps Per Scheduler": 1.0}) == []


def test_eligible_warps_of_an_sm_are_those_of_four_schedulers():
    assert counted(eligible_warps_per_cycle=2.4).counters.scheduler.eligible == pytest.approx(0.6)


def test_stalls_are_shares_of_all_but_the_warp_that_issues():
    found = counted(**{STALL.format("long_scoreboard"): 6.0, STALL.format("wait"): 2.0, STALL.format("selected"): 1.0})
    assert [(s.reason, s.share) for s in found.counters.stalls] == [("long_scoreboard", 0.75), ("wait", 0.25)]
    (finding,) = found.findings
    assert "waits for data from global" in finding.title
    assert "Coalesce" in finding.advice


@pytest.mark.parametrize(
    "spelling",
    [
        STALL, "smsp__warp_issue_stalled_{}_per_warp_active.pct", "smsp__average_warp_latency_issue_stalled_{}.ratio",
        "smsp__pcsamp_warps_issue_stalled_{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reason", ["long_scoreboard", "no_instruction", "math_pipe_throttle", "barrier"])
def test_stalls_are_read_in_every_spelling(spelling, reason):
    assert [s.reason for s in counted(**{spelling.format(reason): 3.0}).counters.stalls] == [reason]


def test_stalls_do_not_matter_where_schedulers_issue():
    busy = {"smsp__warps_eligible.avg.per_cycle_active": 2.0, "smsp__issue_active.avg.per_cycle_active": 0.9}
    assert titles(**busy, **{STALL.format("wait"): 2.0}) == []


@pytest.mark.parametrize(("efficiency", "is_flagged"), [(1.0, False), (0.8, False), (0.799, True), (0.125, True)])
def test_below_80_percent_of_the_bytes_used_is_not_coalesced(efficiency, is_flagged):
    assert titles(**{LOAD: efficiency}) == ["Global loads are not coalesced"] * is_flagged


@pytest.mark.parametrize(("sectors", "is_flagged"), [(4, False), (8, False), (16, False), (32, True)])
def test_sectors_alone_say_it_only_past_the_widest_access(sectors, is_flagged):
    assert titles(**{REQUEST: sectors}) == ["Global loads are not coalesced"] * is_flagged


def test_sectors_per_request_come_from_their_sums_too():
    sums = {
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum": count for what, count in (("sectors", 40), ("requests", 10))
    }
    assert counted(**sums).counters.accesses[0].sectors_per_request == 4


def test_bank_conflicts_are_a_share_of_the_wavefronts():
    found = counted(**{WAVES: 3200, CONFLICTS: 3100})
    assert found.counters.conflicts[0].share == 3100 / 3200
    assert "32 times as many" in found.findings[0].evidence
    assert "tile[32][33], not [33][32]" in found.findings[0].advice
    assert titles(**{WAVES: 3200, CONFLICTS: 100}) == []


def test_the_busiest_pipe_is_the_limit_from_80_percent_on():
    tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
    fma = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"
    found = counted(**{tensor: 0.85, fma: 0.3})
    assert [(pipe.name, pipe.share) for pipe in found.counters.pipes] == [("tensor", 0.85), ("fma", 0.3)]
    assert [f.title for f in found.findings] == ["The tensor pipe is the limit"]
    assert titles(**{tensor: 0.79}) == []


def test_all_tied_resources_limit_the_occupancy():
    found = counted(**limits(blocks=32, registers=2, shared_mem=2, warps=8), **{"Theoretical Occupancy": 0.5})
    assert found.counters.occupancy.limiters == ("registers", "shared memory")
    assert found.findings[0].title == "Occupancy is limited by registers and shared memory"
    assert "maxrregcount" in found.findings[0].advice


def test_full_occupancy_and_enough_eligible_warps_are_no_finding():
    assert titles(**limits(registers=8, warps=8), **{"Theoretical Occupancy": 1.0, "Achieved Occupancy": 0.95}) == []
    enough = {"Eligible Warps Per Scheduler": 2.0}
    assert titles(**limits(registers=1, warps=8), **{"Theoretical Occupancy": 0.2}, **enough) == []


def test_a_gap_to_the_theoretical_occupancy_is_told():
    assert titles(**{"Theoretical Occupancy": 1.0, "Achieved Occupancy": 0.6}) == [
        "SMs hold fewer warps than they could"
    ]


@pytest.mark.parametrize(
    ("compute", "memory", "words"),
    [
        (0.9, 0.3, ["limited by compute"]),
        (0.3, 0.85, ["limited by memory"]),
        (0.3, 0.3, ["limited by latency"]),
        (0.7, 0.3, []),
    ],
)
def test_the_peaks_say_what_limits(compute, memory, words):
    found = titles(**{"Compute (SM) Throughput": compute, "Memory Throughput": memory})
    assert len(found) == len(words)
    assert all(word in title for word, title in zip(words, found, strict=True))


def test_half_empty_warps_are_told():
    assert titles(**{"smsp__thread_inst_executed_per_inst_executed.ratio": 16}) == [
        "Warps run with threads switched off"
    ]


def test_what_is_not_counted_is_said_with_the_section_that_counts_it():
    found = counted(**{LOAD: 1.0})
    assert "occupancy: right would be --section Occupancy" in found.not_counted
    assert not any(text.startswith("accesses") for text in found.not_counted)


def test_a_real_report_names_the_limiters_that_nsight_compute_names():
    wanted = reference("ncu")["cublaslt_fp8_gemm_sm100.ncu.log"]["rules"]
    (kernel,) = analyze_counters(read(real("ncu/cublaslt_fp8_gemm_sm100.ncu.log"))).kernels
    assert ["Occupancy", "TheoreticalOccupancy", "OPT", "81.25"] in wanted  # its text: registers, and shared memory
    assert kernel.counters.occupancy.limiters == ("registers", "shared memory")
    assert (kernel.counters.occupancy.theoretical, kernel.counters.occupancy.achieved) == (
        0.1875,
        pytest.approx(0.1553),
    )
    assert [f.title for f in kernel.findings] == [
        "The kernel is limited by latency, neither by compute nor by memory",
        "Occupancy is limited by registers and shared memory",
    ]
