"""What a partial file leaves out comes from the nearest GPU, and every filled field is told."""

import re

import pytest

from synperf.errors import FieldError
from synperf.hardware import DType, gpu, gpus, keys
from synperf.hardware.fields import KNOWN, NUMBERS
from synperf.hardware.names import FOLDER

SUCCESSOR = """
name = "a made-up successor"
num_sms = 224
clock_hz = 2.4e9
dram_bytes = 288e9
dram_bytes_per_s = 20e12
power_w = 1800
nvlink_bytes_per_s = 1.8e12
tensor_flop_per_s.nvfp4 = 35e15
"""


def written(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def filled_fields(one):
    return {match[0] for said in one.assumptions if (match := re.match(r"[a-z0-9_]+", said))} | {
        field for said in one.assumptions if said.startswith("compute_capability") for field in re.findall(r"\w+", said)
    }


def test_a_successor_from_eight_published_numbers_works(tmp_path):
    one = gpu(written(tmp_path, SUCCESSOR))
    assert one.peak_flop_per_s(DType.NVFP4) == pytest.approx(35e15)
    assert one.peak_flop_per_s(DType.BF16) > gpu("b300_sxm").peak_flop_per_s(DType.BF16)
    assert one.assumptions[0].endswith("mine.toml leaves out: b300_sxm")
    ratio = 224 * 2.4e9 / (148 * 1.856e9)
    assert one.l2_bytes_per_s == pytest.approx(15.436e12 * ratio)
    assert "l2_bytes_per_s: 3.021e13, scaled from b300_sxm by SMs and clock" in one.assumptions


def test_every_field_that_the_file_leaves_out_is_told(tmp_path):
    one = gpu(written(tmp_path, SUCCESSOR))
    stated = {line.split(" ")[0].split(".")[0] for line in SUCCESSOR.strip().splitlines()}
    told = filled_fields(one)
    missing = {"architecture", "compute_capability", *NUMBERS} - stated
    assert missing <= told
    assert not (stated - {"tensor_flop_per_s"}) & (told & set(KNOWN))


def test_rates_of_other_formats_keep_the_ratio_to_the_reference(tmp_path):
    text = """name = "half an H100"
num_sms = 132
clock_hz = 1.83e9
dram_bytes_per_s = 3.35e12
compute_capability = "9.0"
tensor_flop_per_clk_per_sm.bf16 = 2048
"""
    one = gpu(written(tmp_path, text))
    assert one.tensor_flop_per_clk_per_sm[DType.FP8] == 4096
    assert one.tensor_flop_per_clk_per_sm[DType.TF32] == 1024
    assert one.fma_flop_per_clk_per_sm == {DType.FP32: 256}
    assert "h100_sxm" in one.assumptions[0] or "h800" in one.assumptions[0]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('compute_capability = "7.5"', "t4"),
        ('architecture = "volta"', "v100_"),
        ('architecture = "new"', "b200_sxm"),
    ],
)
def test_the_reference_is_of_the_given_capability_else_architecture_else_the_nearest(line, kind, tmp_path):
    figures = "num_sms = 150\nclock_hz = 1.8e9\ndram_bytes_per_s = 7.5e12\ntensor_flop_per_clk_per_sm.fp16 = 8192"
    one = gpu(written(tmp_path, f'name = "x"\n{line}\n{figures}'))
    assert one.assumptions[0].split(": ")[-1].startswith(kind)


@pytest.mark.parametrize("key", keys())
def test_a_copy_of_a_catalog_file_is_the_same_gpu_under_a_marked_key(key, tmp_path):
    copy = gpu(written(tmp_path, (FOLDER / f"{key}.toml").read_text(), f"{key}.toml"))
    assert copy.key == f"{key}_file"
    assert copy.assumptions == ()
    assert {f: getattr(copy, f) for f in NUMBERS} == {f: getattr(gpu(key), f) for f in NUMBERS}


@pytest.mark.parametrize("one", gpus(), ids=lambda g: g.key)
def test_the_required_fields_of_a_catalog_gpu_alone_find_a_gpu_of_its_capability(one, tmp_path):
    dtype = next(iter(one.tensor_flop_per_clk_per_sm or one.fma_flop_per_clk_per_sm))
    pipe = one.math_pipe(dtype)
    text = f"""name = "x"
num_sms = {one.num_sms}
clock_hz = {one.clock_hz!r}
dram_bytes_per_s = {one.dram_bytes_per_s!r}
compute_capability = "{one.compute_capability}"
{pipe}_flop_per_s.{dtype} = {one.peak_flop_per_s(dtype)!r}
"""
    again = gpu(written(tmp_path, text))
    assert again.architecture == one.architecture
    assert again.peak_flop_per_s(dtype) == pytest.approx(one.peak_flop_per_s(dtype))
    assert again.ridge_flop_per_byte(dtype) == pytest.approx(one.ridge_flop_per_byte(dtype))
    assert again.max_clock_hz >= again.clock_hz


def test_sms_clock_and_name_may_be_missing_too(tmp_path):
    text = "dram_bytes_per_s = 3.35e12\ntensor_flop_per_s.bf16 = 989.4e12\ncompute_capability = '9.0'"
    one = gpu(written(tmp_path, text))
    assert (one.name, one.num_sms) == ("mine", 132)
    assert one.peak_flop_per_s(DType.BF16) == pytest.approx(989.4e12)
    assert any(said.startswith("num_sms: 132, the bf16 peak over clock_hz") for said in one.assumptions)
    assert any(said.startswith("clock_hz: ") for said in one.assumptions)


@pytest.mark.parametrize("one", gpus(), ids=lambda g: g.key)
def test_a_peak_and_a_bandwidth_alone_find_the_size_of_a_catalog_gpu(one, tmp_path):
    dtype = next(iter(one.tensor_flop_per_clk_per_sm or one.fma_flop_per_clk_per_sm))
    peak = f"{one.math_pipe(dtype)}_flop_per_s.{dtype} = {one.peak_flop_per_s(dtype)!r}"
    capability = f"compute_capability = '{one.compute_capability}'"
    again = gpu(written(tmp_path, f"dram_bytes_per_s = {one.dram_bytes_per_s!r}\n{capability}\n{peak}"))
    assert again.peak_flop_per_s(dtype) == pytest.approx(one.peak_flop_per_s(dtype))
    assert again.num_sms == pytest.approx(one.num_sms, rel=1.0)


@pytest.mark.parametrize("field", ["dram_bytes_per_s", "tensor_flop_per_s.nvfp4"])
def test_less_than_the_minimum_is_told(field, tmp_path):
    text = "\n".join(line for line in SUCCESSOR.splitlines() if not line.startswith(field))
    missing = field.replace("tensor_flop_per_s.nvfp4", "a peak or rate, such as tensor_flop_per_s.bf16,")
    with pytest.raises(FieldError, match=rf"mine\.toml: {missing} is missing; a partial file needs"):
        gpu(written(tmp_path, text))


def test_a_file_is_read_anew_each_time(tmp_path):
    path = written(tmp_path, SUCCESSOR)
    before = gpu(path)
    written(tmp_path, SUCCESSOR.replace("20e12", "40e12"))
    assert (before.dram_bytes_per_s, gpu(path).dram_bytes_per_s) == (20e12, 40e12)


def test_l2_is_not_filled_in_below_the_stated_dram(tmp_path):
    text = """dram_bytes_per_s = 20e12
tensor_flop_per_s.bf16 = 5e15
num_sms = 200
clock_hz = 2.2e9
compute_capability = "12.0"
"""
    one = gpu(written(tmp_path, text))
    assert one.l2_bytes_per_s > one.dram_bytes_per_s
    assert any(said.startswith("l2_bytes_per_s") and "DRAM" in said for said in one.assumptions)
    near = gpu(written(tmp_path, text.replace("12.0", "12.1")))
    assert near.l2_bytes_per_s == pytest.approx(one.l2_bytes_per_s, rel=0.2)


def test_a_name_that_cannot_be_printed_is_refused(tmp_path):
    with pytest.raises(FieldError, match="cannot be printed"):
        gpu(written(tmp_path, 'name = "a\\u001b[31m"\ndram_bytes_per_s = 1e12\ntensor_flop_per_s.bf16 = 1e15'))
