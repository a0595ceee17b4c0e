"""A what-if changes what it names and what follows from it, and says so."""

from itertools import permutations

import pytest

from synperf.errors import FieldError, UnknownNameError
from synperf.hardware import DType, gpu, gpus, what_if
from synperf.hardware.fields import COUNTS, NUMBERS
from tests.toys import TOY

BF16 = DType.BF16


def test_a_factor_and_a_value_change_one_field_and_say_so():
    faster = what_if(TOY, ["dram_bytes_per_s=2x", "dram_bytes=192GB"])
    assert (faster.dram_bytes_per_s, faster.dram_bytes) == (2e12, 192e9)
    assert faster.assumptions == (
        "dram_bytes_per_s: 2e12 instead of 1e12 (2x)",
        "dram_bytes: 1.92e11 instead of 1e10 (192GB)",
    )
    assert {f for f in NUMBERS if getattr(faster, f) != getattr(TOY, f)} == {"dram_bytes_per_s", "dram_bytes"}


def test_the_key_is_marked_once():
    assert what_if(TOY, ["num_sms=2x"]).key == "toy_what_if"
    assert what_if(what_if(TOY, ["num_sms=2x"]), ["num_sms=2x"]).key == "toy_what_if"


def test_no_change_is_the_same_gpu():
    assert what_if(TOY, []) is TOY


def test_peaks_follow_sms_and_clock():
    assert TOY.peak_flop_per_s(BF16) == 1e13  # 10 SMs x 1000 FLOP x 1 GHz
    assert what_if(TOY, ["num_sms=20", "clock_hz=2GHz"]).peak_flop_per_s(BF16) == 4e13


def test_a_higher_clock_lifts_the_highest_clock_in_proportion_and_a_lower_one_leaves_it():
    assert what_if(TOY, ["clock_hz=1.5x"]).max_clock_hz == 1.5e9
    assert what_if(TOY, ["clock_hz=0.5x"]).max_clock_hz == 1e9


def test_a_peak_sets_the_rate_and_a_rate_the_peak():
    assert what_if(TOY, ["tensor_flop_per_s.bf16=1.5x"]).tensor_flop_per_clk_per_sm[BF16] == 1500
    assert what_if(TOY, ["tensor_flop_per_clk_per_sm.bf16=8192"]).peak_flop_per_s(BF16) == 8.192e13
    assert what_if(TOY, ["tensor_flop_per_s=2x"]).tensor_flop_per_clk_per_sm == {BF16: 2000}


def test_a_format_that_the_gpu_lacks_may_be_given():
    assert what_if(TOY, ["tensor_flop_per_s.fp8=2e13"]).tensor_flop_per_clk_per_sm == {BF16: 1000, DType.FP8: 2000}


def test_the_order_of_changes_does_not_matter():
    changes = ["tensor_flop_per_s.bf16=1e15", "clock_hz=2e9", "num_sms=160", "max_clock_hz=2.5e9"]
    for order in permutations(changes):
        one = what_if(TOY, order)
        assert (one.peak_flop_per_s(BF16), one.num_sms, one.clock_hz, one.max_clock_hz) == (1e15, 160, 2e9, 2.5e9)


@pytest.mark.parametrize("one", gpus(), ids=lambda g: g.key)
@pytest.mark.parametrize("field", NUMBERS)
def test_a_factor_of_one_changes_nothing(one, field):
    same = what_if(one, [f"{field}=1x"])
    assert {f: getattr(same, f) for f in NUMBERS} == {f: getattr(one, f) for f in NUMBERS}
    assert [same.peak_flop_per_s(d) for d in same.dtypes()] == [one.peak_flop_per_s(d) for d in one.dtypes()]


@pytest.mark.parametrize("field", [f for f in NUMBERS if f not in COUNTS])
def test_twice_and_then_half_is_where_it_was(field):
    if field not in ("base_clock_hz", "clock_hz", "max_clock_hz"):
        assert getattr(what_if(what_if(TOY, [f"{field}=2x"]), [f"{field}=x0.5"]), field) == getattr(TOY, field)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dram_bytes_per_sec=2x", "unknown field 'dram_bytes_per_sec'; nearest: dram_bytes_per_s"),
        ("name=other", "unknown field 'name'; "),
        ("num_sms=0", "num_sms: 0 is not within 1 to 1e6"),
        ("num_sms=160.5", "num_sms: 160.5 is not a whole number"),
        ("power_w=-1x", "power_w: '-1x' is not a number with an optional prefix; right would be 700W"),
        ("dram_bytes_per_s=1e300x", "dram_bytes_per_s: inf is not within 1e6 to 1e18"),
        ("dram_bytes_per_s=nan", "dram_bytes_per_s: 'nan' is not a number"),
        ("dram_bytes=3GHz", "dram_bytes: '3GHz' is in Hz; right would be 192GB"),
        ("clock_hz=1830", "clock_hz: 1830 is not within 1e6 to 1e12"),
        ("max_clock_hz=0.5x", "clock_hz: 1e9 is above max_clock_hz, 5e8"),
        ("shared_bytes_per_cta=1MiB", "shared_bytes_per_cta: 1048576 is above shared_bytes_per_sm, 167936"),
        ("tensor_flop_per_s.bf17=2x", "tensor_flop_per_s: unknown format 'bf17'; nearest: bf16"),
        ("fma_flop_per_s=1e15", "fma_flop_per_s: the format is missing; right would be fma_flop_per_s.bf16=1e15"),
        ("tensor_flop_per_s.fp8=2x", "tensor_flop_per_s.fp8: '2x' is a factor, but the GPU has no such rate"),
        ("num_sms", "'num_sms' is not FIELD=VALUE; right would be dram_bytes_per_s=2x"),
        ("num_sms=", "'num_sms=' is not FIELD=VALUE"),
        ("", "'' is not FIELD=VALUE"),
    ],
)
def test_a_change_that_cannot_be_is_told(change, message):
    with pytest.raises(FieldError) as error:
        what_if(TOY, [change])
    assert str(error.value).startswith(f"what_if: {message}")
    assert "\n" not in str(error.value)


def test_a_what_if_of_a_measured_gpu_names_it_as_the_origin_of_launch_floors():
    one = gpu("h100_sxm")
    changed = what_if(one, ["num_sms=160"])
    assert changed.calibration.launch_floor_s == one.calibration.launch_floor_s
    if one.calibration.launch_floor_s:
        assert changed.calibration.launch_floor_from == (one.calibration.launch_floor_from or "h100_sxm")


def test_the_highest_clock_is_lifted_by_the_factor_of_the_clock():
    assert what_if(gpu("h100_sxm"), ["clock_hz=2x"]).max_clock_hz == pytest.approx(3.96e9)  # 1.98 GHz, above 1.83
    assert what_if(gpu("h100_sxm"), ["clock_hz=1.83e9"]).max_clock_hz == 1.98e9


def test_a_name_and_a_path_stand_for_their_gpu(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("dram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 989e12")
    assert what_if("H100", ["num_sms=160"]).key == "h100_sxm_what_if"
    assert what_if("h100_sxm", []) is gpu("h100_sxm")
    assert what_if(path, ["num_sms=160"]).key == what_if(str(path), ["num_sms=160"]).key == "mine_what_if"
    with pytest.raises(UnknownNameError, match="no GPU named 'h21'"):
        what_if("h21", ["num_sms=160"])


@pytest.mark.parametrize("nothing", [7, None, 1.5, ["h100_sxm"]])
def test_what_is_no_gpu_is_told(nothing):
    with pytest.raises(FieldError, match=r"^gpu: .* is not a name or a path"):
        what_if(nothing, ["num_sms=160"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([1], "1 is not text; right would be 'dram_bytes_per_s=2x'"),
        ([None], "None is not text"),
        ([["num_sms=2x"]], "a list is not text"),
        ([b"num_sms=2x"], "b'num_sms=2x' is not text"),
        (None, "None is not a list of changes; right would be ['dram_bytes_per_s=2x']"),
        (2, "2 is not a list of changes"),
        (b"num_sms=2x", "b'num_sms=2x' is not a list of changes"),
        ({"num_sms": "2x"}, "a table is not a list of changes"),
    ],
)
def test_changes_that_are_not_text_are_told(changes, message):
    with pytest.raises(FieldError) as error:
        what_if(TOY, changes)
    assert str(error.value).startswith(f"what_if: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (["num_sms=160", "num_sms=80"], "num_sms: changed twice"),
        (["num_sms=160", "num_sms=160"], "num_sms: changed twice"),
        (["clock_hz=2x", "dram_bytes=2x", " clock_hz = 2x"], "clock_hz: changed twice"),
        (["tensor_flop_per_s.bf16=2x", "tensor_flop_per_s.bf16=3x"], "tensor_flop_per_s.bf16: changed twice"),
        (
            ["tensor_flop_per_s=2x", "tensor_flop_per_s.bf16=1e15"],
            "tensor_flop_per_s.bf16: changed here and by 'tensor_flop_per_s'",
        ),
        (
            ["tensor_flop_per_s.bf16=1e15", "tensor_flop_per_clk_per_sm.bf16=2x"],
            "tensor_flop_per_clk_per_sm.bf16: changed here and by 'tensor_flop_per_s.bf16'",
        ),
    ],
)
def test_a_field_that_is_changed_twice_is_told_in_any_order(changes, field):
    with pytest.raises(FieldError) as error:
        what_if(TOY, changes)
    assert str(error.value) == f"what_if: {field}; right would be one change of it"
    with pytest.raises(FieldError, match="changed"):
        what_if(TOY, changes[::-1])


def test_different_formats_and_pipes_are_different_fields():
    both = what_if(TOY, ["tensor_flop_per_s.bf16=2x", "tensor_flop_per_s.fp8=4e13", "fma_flop_per_s=2x"])
    assert both.tensor_flop_per_clk_per_sm == {BF16: 2000, DType.FP8: 4000}
    assert both.fma_flop_per_clk_per_sm == {DType.FP32: 200}


def test_more_sms_leave_l2_and_dram_bandwidth():
    wide = what_if(TOY, ["num_sms=20"])
    assert (wide.l2_bytes_per_s, wide.dram_bytes_per_s, wide.l2_bytes) == (1e13, 1e12, 1e7)
