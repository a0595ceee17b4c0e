"""The map from bottleneck to tool, and the cost of counters."""

import json
import re

import pytest

import synperf
from synperf import FieldError
from synperf.calculators.profiling import bottlenecks, profiling, replayed
from synperf.cli.app import names
from synperf.errors import UnknownNameError
from tests.cli.runner import assert_refused, invoke

A100 = synperf.gpu("a100_sxm")


@pytest.mark.parametrize(
    "tool",
    ["Nsight Compute", "Nsight Systems", "PyTorch Profiler", "TensorFlow Profiler", "NVTX", "record_function",
     "nccl-tests", "Horovod Timeline", "DALI", "TensorRT", "TVM", "CUPTI"],
)  # fmt: skip
def test_every_tool_is_for_some_bottleneck(tool):
    assert any(tool in one.name for found in bottlenecks().values() for one in found.tools)


@pytest.mark.parametrize(
    ("bottleneck", "first"),
    [("dram", "Nsight Compute"), ("launch", "Nsight Systems"), ("data", "PyTorch Profiler"),
     ("communication", "Nsight Systems"), ("latency", "Nsight Compute")],
)  # fmt: skip
def test_the_first_tool_is_the_one_to_begin_with(bottleneck, first):
    assert profiling(bottleneck).bottlenecks[0].tools[0].name == first


def test_forty_passes_take_forty_times_and_putting_memory_back():
    found = replayed(A100, passes=40, kernel_s=50e-6, kernels=100, written_bytes=16e6)
    assert found.plain_s == pytest.approx(5e-3)
    assert found.restore_s == pytest.approx(100 * 40 * 32e6 / 2.03904e12)
    assert found.total_s == pytest.approx(0.2 + found.restore_s)
    assert found.slowdown == pytest.approx(found.total_s / 5e-3)


def test_one_pass_puts_nothing_back():
    assert replayed(A100, passes=1, kernel_s=50e-6, written_bytes=1e9).slowdown == 1


def test_all_of_them_fit_a_screen():
    seen = invoke("profiling")
    assert seen.code == 0
    assert len(seen.out.splitlines()) < 40
    assert {one["key"] for one in json.loads(invoke("profiling", "--json").out)["bottlenecks"]} == set(bottlenecks())


def test_an_unknown_bottleneck_has_a_nearest():
    with pytest.raises(UnknownNameError, match="no bottleneck named 'drma'; nearest: dram"):
        profiling("drma")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--passes", "40"], "kernel_s"),
        (["--kernel-s", "50us"], "passes"),
        (["--kernel-s", "50us", "--passes", "40"], "gpu"),
        (["--kernel-s", "0", "--passes", "40", "--gpu", "a100_sxm"], "kernel_s"),
        (["--kernel-s", "50us", "--passes", "0", "--gpu", "a100_sxm"], "passes"),
        (["--kernel-s", "50us", "--passes", "1", "--gpu", "a100_sxm", "--written-bytes", "-1"], "written_bytes"),
    ],
)
def test_bad_input_is_one_sentence(options, word):
    seen = invoke("profiling", *options)
    assert_refused(seen)
    assert word in seen.err
    with pytest.raises(FieldError):
        replayed(A100, passes=1, kernel_s=float("nan"))


@pytest.mark.parametrize("one", bottlenecks().values(), ids=lambda one: one.key)
def test_what_is_said_to_be_here_is(one):
    assert set(re.findall(r"synperf ([\w-]+)", one.here)) <= set(names())
