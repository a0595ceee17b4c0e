"""What boards sustain: of GPUs whose power was found to be the limit, and that nobody measured."""

from dataclasses import replace

import pytest

from synperf import hardware
from synperf.hardware import DType
from synperf.hardware.power import Power, is_measured, power

from ..toys import TOY

POWER = Power(efficiency=0.5, flop_per_s_per_w={"8.0": 1e10})


def test_a_board_of_a_hundred_watts_sustains_a_hundred_times_as_much_as_one_watt() -> None:
    assert POWER.flop_per_s(TOY, DType.BF16) == pytest.approx(1e12)


def test_other_formats_are_sustained_in_the_ratio_of_peaks() -> None:
    narrow = replace(TOY, tensor_flop_per_clk_per_sm={DType.BF16: 1000.0, DType.FP8: 2000.0})
    assert POWER.flop_per_s(narrow, DType.FP8) == pytest.approx(2e12)


def test_nothing_is_said_of_other_capabilities_or_without_tensor_cores() -> None:
    assert POWER.flop_per_s(replace(TOY, compute_capability="9.0"), DType.BF16) is None
    assert POWER.flop_per_s(replace(TOY, tensor_flop_per_clk_per_sm={}), DType.FP32) is None


def test_twins_of_measured_gpus_count_as_measured() -> None:
    measured = {key: is_measured(hardware.gpu(key)) for key in ("h100_sxm", "h800", "h20", "l40s", "l40", "a40")}
    assert measured == {"h100_sxm": True, "h800": True, "h20": False, "l40s": True, "l40": False, "a40": False}


@pytest.mark.parametrize("key", ["a40", "rtx_a6000", "l20", "l40", "rtx_6000_ada"])
def test_what_ships_is_at_most_the_peak_where_boards_are_weak_and_below_it_by_no_more_than_four(key: str) -> None:
    gpu = hardware.gpu(key)
    sustained = power().flop_per_s(gpu, DType.BF16)
    assert sustained is not None
    assert 0.25 < sustained / gpu.peak_flop_per_s(DType.BF16) < 1.0
    assert power().provenance["command"].startswith("python -m synperf.training.static_records")
