"""Little's law on an A100, and laws over any latency."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.latency_hiding import latency_hiding
from synperf.errors import UnknownNameError
from tests.cli.runner import assert_refused, invoke

A100 = synperf.gpu("a100_sxm")


def test_an_a100_needs_6_kib_of_each_sm_in_flight():
    found = latency_hiding(A100, latency_cycles=466, bandwidth=2039e9)
    assert found.bytes_in_flight == pytest.approx(673.9e3, rel=1e-4)
    assert found.bytes_per_sm / 1024 == pytest.approx(6.09, abs=0.005)
    assert (found.threads_per_sm, found.warps_per_sm) == (390, 13)
    assert (found.resident_threads, found.loads_per_thread, found.attainable) == (2048, 1, 1.0)


def test_measured_latencies_are_those_of_the_capability():
    assert latency_hiding(A100).latency_cycles == 466
    assert latency_hiding(A100, level="l2").latency_cycles == 262
    assert latency_hiding(A100, level="shared").latency_cycles == 29
    h100 = latency_hiding(synperf.gpu("h100_sxm"))
    assert h100.latency_cycles == 479
    assert "as measured on an idle H800 PCIe" in h100.why[0]


def test_shared_memory_has_29_cycles_of_128_bytes_in_flight():
    assert latency_hiding(A100, level="shared").bytes_per_sm == pytest.approx(29 * 128)


def test_few_threads_need_more_loads_each():
    found = latency_hiding(A100, threads=128)
    assert found.attainable == pytest.approx(128 * 16 / found.bytes_per_sm)
    assert found.loads_per_thread == 4
    assert latency_hiding(A100, threads=128, loads=4).attainable == 1.0


@given(st.floats(1, 1e4), st.integers(1, 16), st.integers(1, 2048))
def test_what_is_said_to_be_enough_is_and_one_less_is_not(cycles, loads, threads):
    found = latency_hiding(A100, latency_cycles=cycles, loads=loads, threads=threads)
    of_one = found.bytes_per_load * loads
    assert found.threads_per_sm * of_one >= found.bytes_per_sm * (1 - 1e-6)
    assert (found.threads_per_sm - 1) * of_one < found.bytes_per_sm
    enough = found.loads_per_thread
    assert threads * found.bytes_per_load * enough >= found.bytes_per_sm * (1 - 1e-6)
    assert 0 < found.attainable <= 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"latency_cycles": 0}, "latency_cycles must be above 0"),
        ({"latency_cycles": float("nan")}, "latency_cycles must be above 0"),
        ({"latency_s": -1.0}, "latency_s must be above 0"),
        ({"bandwidth": float("inf")}, "bandwidth must be above 0"),
        ({"latency_s": 1e-7, "latency_cycles": 466}, "latency_s: given beside latency_cycles"),
        ({"threads": 4096}, "threads must be a whole number from 1 to 2048"),
        ({"loads": 0}, "loads must be a whole number"),
    ],
)
def test_bad_numbers_are_named(given, message):
    with pytest.raises(FieldError, match=message):
        latency_hiding(A100, **given)


def test_a_latency_that_nobody_measured_is_asked_for():
    with pytest.raises(FieldError, match="latency_cycles: none of dram is known for L40"):
        latency_hiding(synperf.gpu("l40"))
    with pytest.raises(UnknownNameError, match="no level named 'l3'"):
        latency_hiding(A100, level="l3")


def test_the_command_takes_units_and_plain_numbers():
    with_unit = json.loads(invoke("latency-hiding", "--gpu", "l40", "--latency-s", "330ns", "--json").out)
    plain = json.loads(invoke("latency-hiding", "--gpu", "l40", "--latency-s", "330e-9", "--json").out)
    assert with_unit == plain
    assert_refused(invoke("latency-hiding", "--gpu", "l40", "--latency-s", "330GB"))
    assert_refused(invoke("latency-hiding"))
