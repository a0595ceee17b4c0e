"""Prefixes are read and written in one place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.errors import FieldError
from synperf.units import (
    format_binary,
    format_percent,
    format_plain,
    format_quantity,
    format_time,
    parse_quantity,
    unit_of,
)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("192GB", "B", 192e9),
        ("48 MiB", "B", 48 * 2**20),
        ("4.8TB/s", "B/s", 4.8e12),
        ("4.8T", "B/s", 4.8e12),
        ("2.1e9", "Hz", 2.1e9),
        ("1.83GHz", "Hz", 1.83e9),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("989TFLOPS", "FLOP/s", 989e12),
        ("12us", "s", 12e-6),
        ("12 µs", "s", 12e-6),
        ("160", "", 160.0),
        ("2k", "", 2000.0),
        ("-3", "", -3.0),
    ],
)
def test_a_quantity_is_read_with_prefix_and_unit(text, unit, value):
    assert parse_quantity(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "GB", "1..2", "12 m", "3Hz", "nan", "inf", "1e999", "1_000", "0x10", "1 G B"])
def test_what_is_no_quantity_of_bytes_is_told(text):
    with pytest.raises(FieldError, match=r"right would be 192GB|is too large"):
        parse_quantity(text, "B")


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("dram_bytes_per_s", "B/s"),
        ("dram_bytes", "B"),
        ("clock_hz", "Hz"),
        ("tensor_flop_per_s.bf16", "FLOP/s"),
        ("power_w", "W"),
        ("num_sms", ""),
        ("max_warps_per_sm", ""),
        ("shared_bytes_per_cta", "B"),
    ],
)
def test_a_fields_name_carries_its_unit(field, unit):
    assert unit_of(field) == unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (171e-6, "171 µs"),
        (1.32e-3, "1.32 ms"),
        (12.4, "12.4 s"),
        (86_400, "86400 s"),
        (999_600, "1e6 s"),
        (2.904e13, "2.9e13 s"),
        (850e-9, "850 ns"),
        (999.6e-6, "1 ms"),
        (1e-3, "1 ms"),
        (0, "0 s"),
        (1e300, "1e300 s"),
        (1e-300, "1e-291 ns"),
    ],
)
def test_a_time_is_written_in_its_unit(seconds, text):
    assert format_time(seconds) == text


def test_quantities_are_written_with_a_prefix():
    assert format_quantity(4.8e12, "B/s") == "4.8 TB/s"
    assert format_quantity(700, "W") == "700 W"
    assert format_quantity(999e18, "B") == "999 EB"
    assert format_quantity(1.904e25, "B") == "1.9e25 B"
    assert format_binary(50 * 2**20) == "50 MiB"
    assert format_binary(132644864) == "126.5 MiB"
    assert format_percent(0.81) == "81 %"
    assert format_percent(1e-300) == "1e-298 %"
    assert format_percent(4.5e300) == "4.5e302 %"
    assert format_binary(1e300) == "8.882e284 PiB"
    assert format_plain(1.1e13) == "1.1e13"
    assert format_plain(160) == "160"


@given(st.floats(1e-9, 1e30))
def test_what_is_written_is_read_back_within_its_digits(value):
    assert parse_quantity(format_plain(value)) == pytest.approx(value, rel=1e-3)
    if value >= 1:
        assert parse_quantity(format_quantity(value, "B"), "B") == pytest.approx(value, rel=1e-2)
    assert parse_quantity(format_time(value), "s") == pytest.approx(value, rel=1e-2)
