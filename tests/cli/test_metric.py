"""`synperf metric`: names of nvprof and of Nsight Compute, both ways."""

import json

import pytest

from synperf.analysis.ncu_metrics import translations

from .runner import assert_refused, invoke

GLOBAL = """\
nvprof          gld_transactions_per_request
Nsight Compute  l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
note            in sectors of 32 bytes: 4 is ideal for elements of 4 bytes, 8 for 8, 16 for 16
"""


def test_an_old_name_and_the_new_one_give_the_same():
    assert invoke("metric", "gld_transactions_per_request").out == GLOBAL
    new = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
    assert invoke("metric", new).out == GLOBAL


def test_the_efficiency_of_global_loads_has_its_new_name():
    """W-22 of the requirements."""
    said = json.loads(invoke("metric", "gld_efficiency", "--json").out)
    assert said["ncu"] == ["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"]


@pytest.mark.parametrize("one", translations(), ids=lambda one: one.nvprof[0])
def test_every_metric_is_told_by_each_of_its_names(one):
    names = (*one.nvprof, *one.ncu, *one.ratio)
    assert len({invoke("metric", name).out for name in names}) == 1


def test_a_metric_that_is_gone_says_so():
    assert "no equivalent" in invoke("metric", "inst_replay_overhead").out


def test_parts_and_factors_of_a_value_are_told():
    assert "lookup_hit.sum / l1tex__" in invoke("metric", "global_hit_rate").out
    assert ", times 32" in invoke("metric", "l2_read_throughput").out


@pytest.mark.parametrize("name", ["gld_eficiency", "dram__bytes_raed.sum", "", "\n"])
def test_an_unknown_name_is_refused_with_the_nearest(name):
    assert_refused(invoke("metric", name))
