"""Compressed gradients, worked out by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.calculators.compression import compression
from tests.cli.runner import assert_refused, invoke

GIVEN = {"bytes": 100e6, "bandwidth": 10e9, "ratio": 4}


def test_a_quarter_of_a_hundred_megabytes_saves_7_5_ms():
    found = compression(**GIVEN, codec_s=0)
    assert found.saving_s == pytest.approx(7.5e-3)
    assert found.worth_it


def test_a_codec_of_8_ms_is_not_worth_that():
    found = compression(**GIVEN, codec_s=8e-3)
    assert not found.worth_it
    assert found.net_s == pytest.approx(-0.5e-3)
    assert found.advice == (
        "send it as it is; it pays with a codec of less than 7.5 ms, or below 9.38 GB/s",
        "it pays from a ratio of 5 on",
    )


def test_the_command_takes_the_plain_numbers():
    arguments = "compression --bytes 100e6 --bandwidth 10e9 --ratio 4 --codec-s 0.008 --json"
    found = json.loads(invoke(*arguments.split()).out)
    assert (found["saving_s"], found["worth_it"]) == (pytest.approx(7.5e-3), False)


def test_a_ratio_of_1_saves_nothing_and_has_no_limit():
    found = compression(bytes=100e6, bandwidth=10e9, ratio=1, codec_s=1e-3)
    assert (found.saving_s, found.worth_it, found.bandwidth_limit) == (0, False, None)
    assert found.advice == ("it pays from a ratio of 1.11 on",)


def test_an_all_reduce_of_eight_sends_1_75_of_its_buffer():
    assert compression(**GIVEN, ranks=8).plain_s == pytest.approx(17.5e-3)


@given(st.floats(1, 1e12), st.floats(1, 1e12), st.floats(1.01, 1e3), st.floats(1e-9, 1e3))
def test_the_limits_are_where_it_begins_to_pay(size, rate, ratio, codec):
    found = compression(bytes=size, bandwidth=rate, ratio=ratio, codec_s=codec)
    assert found.worth_it is (found.compressed_s < found.plain_s) or found.net_s == pytest.approx(0, abs=1e-9 * codec)
    limit = found.bandwidth_limit
    if 1e-15 < limit < 1e20:
        assert compression(bytes=size, bandwidth=0.99 * limit, ratio=ratio, codec_s=codec).worth_it
        assert not compression(bytes=size, bandwidth=1.01 * limit, ratio=ratio, codec_s=codec).worth_it
    if found.least_ratio is not None and found.least_ratio < 1e5:
        assert compression(bytes=size, bandwidth=rate, ratio=found.least_ratio * 1.01, codec_s=codec).worth_it


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--bytes", "0", "bytes must be above 0"),
        ("--bytes", "-3GB", "bytes must be above 0"),
        ("--bandwidth", "0", "bandwidth must be above 0"),
        ("--bandwidth", "10GB", "bandwidth: '10GB' is in B"),
        ("--ratio", "0.5", "ratio must be from 1"),
        ("--ratio", "nan", "ratio must be from 1"),
        ("--codec-s", "-1", "codec_s must be 0 or above"),
        ("--ranks", "1", "ranks must be 2 or more, got 1"),
    ],
)
def test_bad_input_is_one_sentence(option, value, said):
    options = {"--bytes": "100MB", "--bandwidth": "10GB/s", "--ratio": "4", option: value}
    seen = invoke("compression", *(part for pair in options.items() for part in pair))
    assert_refused(seen)
    assert said in seen.err
