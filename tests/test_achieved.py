"""What a measured time came to. The figures of the two MLA calls are a user's case, recomputed to the last digit."""

import pytest

import synperf
from synperf.achieved import achieved
from synperf.errors import FieldError


def rates(gpu, took_s, **fields):
    return achieved(synperf.explain(synperf.Mla(batch=128, heads=64, absorbed=True, **fields), gpu), took_s)


def test_mla_on_an_h20_is_near_its_math_peak_and_its_bandwidth_says_nothing():
    found = rates("h20", 3.407e-3, q_len=3, kv_len=8192)
    assert found.bound == "math"
    assert found.flop_per_s == pytest.approx(128.6e12, rel=1e-3)
    assert found.bytes_per_s == pytest.approx(370.2e9, rel=1e-3)
    assert found.math_share == pytest.approx(0.869, abs=1e-3)


def test_the_same_kernel_on_an_h100_is_near_its_bandwidth():
    found = rates("h100_sxm", 0.223e-3, q_len=1, kv_len=4096)
    assert found.bound == "dram"
    assert found.flop_per_s == pytest.approx(327.4e12, rel=1e-3)
    assert found.bytes_per_s == pytest.approx(2788e9, rel=1e-3)
    assert found.dram_share == pytest.approx(0.832, abs=1e-3)


@pytest.mark.parametrize("took_s", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(took_s):
    with pytest.raises(FieldError, match="took: must be a positive time"):
        rates("h20", took_s, q_len=1, kv_len=64)


@pytest.mark.parametrize(("took_s", "said"), [(1e300, "1e300 s"), (2e9, "2e9 s"), (1e-300, "1e-291 ns")])
def test_a_time_that_no_kernel_takes_is_refused(took_s, said):
    with pytest.raises(FieldError, match=rf"took: must be a time of a kernel, 0.001 ns to 1e9 s, got {said}$"):
        rates("h20", took_s, q_len=1, kv_len=64)
