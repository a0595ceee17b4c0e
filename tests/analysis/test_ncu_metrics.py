"""Metrics by the names of nvprof and of Nsight Compute: every row of the table, both ways."""

import pytest

from synperf.analysis import ncu_metrics
from synperf.errors import UnknownNameError
from synperf.traces.records.ncu_csv import KernelProfile, Metric

STALLED = "smsp__warp_issue_stalled_{}_per_warp_active.pct"
RATIO = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
HIT = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
ROWS = [
    ("sm_efficiency", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed"),
    ("achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("eligible_warps_per_cycle", "smsp__warps_eligible.sum.per_cycle_active"),
    ("ipc", "smsp__inst_executed.avg.per_cycle_active"),
    ("issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active"),
    ("l2_read_throughput", "lts__t_sectors_op_read.sum.per_second"),
    ("tensor_precision_fu_utilization", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
    ("gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"),
    ("gst_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"),
    ("gld_transactions_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
    ("dram_read_throughput", "dram__bytes_read.sum.per_second"),
    ("dram_write_throughput", "dram__bytes_write.sum.per_second"),
    ("l2_cache_hit_rate", "lts__t_sector_hit_rate.pct"),
    ("l2_tex_hit_rate", "lts__t_sector_hit_rate.pct"),
    ("l1_cache_global_hit_rate", HIT),
    ("global_hit_rate", HIT),
    ("texture_cache_hit_rate", "l1tex__t_sector_hit_rate.pct"),
    ("tex_cache_hit_rate", "l1tex__t_sector_hit_rate.pct"),
    ("shared_load_throughput", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum.per_second"),
    ("shared_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    ("shared_ld_bank_conflict", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
    ("shared_st_bank_conflict", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
    ("warp_execution_efficiency", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    ("branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct"),
    ("stall_inst_fetch", STALLED.format("no_instruction")),
    ("stall_memory_dependency", STALLED.format("long_scoreboard")),
    ("stall_exec_dependency", STALLED.format("short_scoreboard")),
    ("stall_exec_dependency", STALLED.format("wait")),
    ("stall_inst_fetch", RATIO.format("no_instruction")),
    ("stall_memory_dependency", RATIO.format("long_scoreboard")),
    ("stall_exec_dependency", RATIO.format("short_scoreboard")),
    ("stall_exec_dependency", RATIO.format("wait")),
]


@pytest.mark.parametrize(("old", "new"), ROWS)
def test_a_name_is_translated_both_ways(old, new):
    there = ncu_metrics.from_nvprof(old)
    assert new in (*there.ncu, *there.ratio)
    assert ncu_metrics.from_ncu(new) is there


def test_a_removed_metric_has_no_equivalent_and_says_so():
    gone = ncu_metrics.from_nvprof("inst_replay_overhead")
    assert gone.ncu == ()
    assert "no equivalent" in gone.note


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"no metric of nvprof named 'gld_eficiency'; nearest: gld_efficiency"):
        ncu_metrics.from_nvprof("gld_eficiency")
    with pytest.raises(UnknownNameError, match=r"no metric of Nsight Compute named 'dram__bytes_raed"):
        ncu_metrics.from_ncu("dram__bytes_raed.sum.per_second")


def test_another_ending_of_the_same_metric_is_the_same():
    assert "dram_read_throughput" in ncu_metrics.from_ncu("dram__bytes_read.sum").nvprof


def profile(**values):
    metrics = [Metric(section="", name=n, printed_unit="", printed="", unit="", value=v) for n, v in values.items()]
    return KernelProfile(
        kernel="k", block="", grid="", device="", compute_capability="", invocations=1, metrics=tuple(metrics), rules=()
    )


@pytest.mark.parametrize(
    ("old", "metrics", "value"),
    [
        ("ipc", {"smsp__inst_executed.avg.per_cycle_active": 0.5}, 2.0),
        ("l2_read_throughput", {"lts__t_sectors_op_read.sum.per_second": 1e9}, 32e9),
        ("shared_load_throughput", {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum.per_second": 1e9}, 128e9),
        ("warp_execution_efficiency", {"smsp__thread_inst_executed_per_inst_executed.ratio": 32.0}, 1.0),
        ("global_hit_rate", {HIT: 30.0, SECTORS: 40.0}, 0.75),
        ("global_hit_rate", {HIT: 30.0}, None),
        ("stall_exec_dependency", {STALLED.format("short_scoreboard"): 0.25, STALLED.format("wait"): 0.5}, 0.75),
        ("gld_efficiency", {"gld_efficiency": 0.5}, 0.5),
        ("sm_efficiency", {}, None),
        ("inst_replay_overhead", {}, None),
    ],
)
def test_the_value_of_nvprof_comes_from_either_spelling(old, metrics, value):
    assert ncu_metrics.value(profile(**metrics), old) == value
