"""A broken GPU file is told in one sentence that names the file and the field; nothing else is ever raised."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synperf.errors import FieldError, FileFormatError, PerfError
from synperf.hardware import DType, gpu
from synperf.hardware.fields import KNOWN, NUMBERS
from synperf.hardware.names import FOLDER
from synperf.hardware.parse import MAX_FILE_BYTES, parse

H100 = (FOLDER / "h100_sxm.toml").read_text()

# Powers of ten, so that every expected value is worked out in the head. 10 SMs x 100 FLOP x 1 GHz = 1 TFLOP/s.
TOY = """
name = "toy"
architecture = "ampere"
compute_capability = "8.0"
num_sms = 10
base_clock_hz = 1e9
clock_hz = 1e9
max_clock_hz = 1e9
dram_bytes = 1e9
dram_bytes_per_s = 1e9
l2_bytes = 1e6
l2_bytes_per_s = 1e10
power_w = 100
nvlink_bytes_per_s = 0
pcie_bytes_per_s = 1e9
tensor_flop_per_s = { bf16 = 1e12 }
fma_flop_per_clk_per_sm = { fp32 = 10 }
"""


def with_line(line):
    """The toy with the line of that field replaced, or added."""
    field = line.partition("=")[0].strip()
    return "\n".join([*(old for old in TOY.splitlines() if old.partition("=")[0].strip() != field), line])


def told(text):
    with pytest.raises(PerfError) as error:
        parse(text, "toy", "toy.toml")
    message = str(error.value)
    assert message.startswith("toy.toml: ")
    assert "\n" not in message
    return message


def test_a_complete_file_is_a_gpu():
    toy = parse(TOY, "toy", "toy.toml")
    assert (toy.key, toy.name, toy.num_sms, toy.cc) == ("toy", "toy", 10, (8, 0))
    assert toy.tensor_flop_per_clk_per_sm == {DType.BF16: 100.0}
    assert toy.peak_flop_per_s(DType.BF16) == 1e12
    assert toy.ridge_flop_per_byte(DType.BF16) == 1000.0
    assert toy.shared_bytes_per_sm == 164 * 1024
    assert toy.assumptions == ("tensor_flop_per_clk_per_sm.bf16: 100, its peak over num_sms and clock_hz",)


def test_a_file_may_override_a_limit_of_its_capability():
    assert parse(with_line("max_ctas_per_sm = 8"), "toy", "toy.toml").max_ctas_per_sm == 8


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("clok_hz = 1e9", "unknown field 'clok_hz'; nearest: clock_hz"),
        ("num_sms = 0", "num_sms: 0 is not within 1 to 1e6"),
        ("num_sms = -3", "num_sms: -3 is not within 1 to 1e6"),
        ("num_sms = 1.5", "num_sms: 1.5 is not a whole number"),
        ('num_sms = "132"', "num_sms: '132' is not a number"),
        ("num_sms = true", "num_sms: True is not a number"),
        ("dram_bytes_per_s = nan", "dram_bytes_per_s: nan is not within 1e6 to 1e18"),
        ("dram_bytes_per_s = inf", "dram_bytes_per_s: inf is not within 1e6 to 1e18"),
        ("clock_hz = 1830", "clock_hz: 1830 is not within 1e6 to 1e12"),
        ("max_clock_hz = 0.5e9", "clock_hz: 1e9 is above max_clock_hz, 5e8"),
        ("base_clock_hz = 2e9", "base_clock_hz: 2e9 is above max_clock_hz, 1e9"),
        ("shared_bytes_per_cta = 200000", "shared_bytes_per_cta: 200000 is above shared_bytes_per_sm, 167936"),
        ('compute_capability = "9.9"', "compute_capability: no compute capability named '9.9'; nearest: 9.0"),
        ("compute_capability = 8.0", "compute_capability: 8 is not text; right would be text in quotes"),
        ('name = " "', "name: the text is empty"),
        ("tensor_flop_per_s = 1e12", "tensor_flop_per_s: 1e12 is not a table; right would be [tensor_flop_per_s]"),
        ("tensor_flop_per_s = { bf17 = 1e12 }", "tensor_flop_per_s: unknown format 'bf17'; nearest: bf16"),
        ("tensor_flop_per_s = { fp8_block = 1e12 }", "tensor_flop_per_s: unknown format 'fp8_block'; nearest: fp8"),
        ("tensor_flop_per_s = { bf16 = -1 }", "tensor_flop_per_s.bf16: -1 is not within 1e6 to 1e21"),
        ("fma_flop_per_s = { fp32 = 1.02e11 }", "fma_flop_per_s.fp32: 1.02e11 is not num_sms x rate x clock_hz, 1e11"),
        ("fma_flop_per_clk_per_sm = {}", "fma_flop_per_clk_per_sm.fp32 is missing"),
        ("sources = { num_sms = 3 }", "sources.num_sms: 3 is not text"),
        ('aliases = "H100"', "aliases: 'H100' is not a list of names"),
        ("num_sms = [1]", "num_sms: a list is not a number"),
        ("num_sms = 2024-01-01", "num_sms: datetime.date(2024, 1, 1) is not a number"),
        ("num_sms = 1e400", "num_sms: inf is not within"),
        (f"num_sms = 0x{'f' * 900}", "is not within"),
        ("num_sms =", "not TOML: Invalid value"),
        ("num_sms = 10\nnum_sms = 11", "not TOML: Cannot overwrite a value"),
        (f"a = {'[' * 900}", "nested too deeply"),
        ("sources." + "a." * 400 + "a = 1", "sources.a: a table is not text"),
        (f"name = '{'x' * 1000}'", "line 17 has more than 1000 characters"),
    ],
)
def test_each_slip_is_told_with_the_field(line, message):
    assert told(with_line(line)).startswith(f"toy.toml: {message}") or message in told(with_line(line))


@pytest.mark.parametrize("field", [line.split(" =")[0] for line in TOY.strip().splitlines()][:-2])
def test_a_missing_field_is_named(field):
    text = "\n".join(line for line in TOY.splitlines() if line.partition(" =")[0] != field)
    assert told(text) == f"toy.toml: {field} is missing"


def test_a_peak_may_be_rounded_by_one_percent_and_no_more():
    parse(with_line("fma_flop_per_s = { fp32 = 1.009e11 }"), "toy", "toy.toml")
    assert "within 1 %" in told(with_line("fma_flop_per_s = { fp32 = 1.011e11 }"))


def test_brackets_nested_beyond_what_python_reads_are_told():
    assert told("a = " + "[\n" * 5000) in ("toy.toml: nested too deeply", "toy.toml: not TOML: Invalid value")


@pytest.mark.parametrize("make", [Path.mkdir, Path.absolute, getattr(os, "mkfifo", Path.mkdir)])
def test_a_folder_nothing_and_a_pipe_are_no_files(make, tmp_path):
    path = tmp_path / "gpu.toml"
    make(path)
    with pytest.raises(FileFormatError, match=r"gpu\.toml: (not a file|no such file)"):
        gpu(path)


@pytest.mark.parametrize("content", [b"\x7fELF\x02\xff", b"\x00" * 100, b"\xff\xfea\x00"])
def test_a_binary_file_is_told(content, tmp_path):
    path = tmp_path / "gpu.toml"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"gpu\.toml: not TOML"):
        gpu(path)


def test_an_empty_file_is_told_what_it_needs(tmp_path):
    path = tmp_path / "gpu.toml"
    path.touch()
    with pytest.raises(
        FieldError, match=r"gpu\.toml: dram_bytes_per_s is missing; a partial file needs dram_bytes_per_s"
    ):
        gpu(str(path))


def test_a_file_of_100_mb_is_not_read(tmp_path):
    path = tmp_path / "gpu.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(FileFormatError, match=f"larger than {MAX_FILE_BYTES // 1024} KiB"):
        gpu(path)


def test_a_file_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    path = tmp_path / "gpu.toml"
    path.touch()

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(FileFormatError, match=r"gpu\.toml: cannot be read \(Permission denied\)"):
        gpu(path)


@pytest.mark.parametrize("name", ["a\0.toml", "x" * 5000 + ".toml", "no/such/folder/gpu.toml"])
def test_a_path_that_cannot_be_is_told(name):
    with pytest.raises(FileFormatError):
        gpu(name)


def parses_or_is_told(text):
    try:
        parse(text, "toy", "toy.toml")
    except PerfError as error:
        assert str(error).startswith("toy.toml: ")  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017


junk = st.one_of(
    st.text(max_size=200),
    st.integers().map(str),
    st.floats().map(repr),
    st.sampled_from(["true", "[]", "{}", '""', "nan", "-inf", "1979-05-27", "[[1]]", "{a = {b = 1}}", "1e400"]),
)


@given(st.sampled_from([*NUMBERS, *KNOWN]), junk)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_value_in_any_field_parses_or_is_told(field, value):
    parses_or_is_told(with_line(f"{field} = {value}"))


@given(st.integers(0, len(H100)), st.integers(0, 200), st.text(max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_cut_or_insertion_in_a_real_file_parses_or_is_told(at, length, text):
    parses_or_is_told(H100[:at] + text + H100[at + length :])


@given(st.binary(max_size=400))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_bytes_in_a_file_are_a_gpu_or_are_told(tmp_path, raw):
    path = tmp_path / "gpu.toml"
    path.write_bytes(raw)
    with pytest.raises(PerfError):
        gpu(path)
