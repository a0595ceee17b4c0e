"""Intervals of a calibration with few rows of a kernel: as wide as these say, and as before where they are accurate."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.estimators import calibrated, learned
from synperf.estimators.calibration_file import MOST_LOG, parse, render
from synperf.kernels import family
from synperf.training.calibrate import fit_calibration
from synperf.training.calibration_intervals import regimes

from .calibration_rows import H100
from .test_calibration_families import attention

KIND = family("attention")


def measured(size, seed, factor, noise):
    """Attention, half of it decode, `factor` times as long as the weights say, with noise of the logarithm."""
    found = attention(size, seed, H100, "fa3")
    return replace(found, time_s=found.time_s * factor * np.exp(np.random.default_rng(seed).normal(0, noise, size)))


def held(found, new, variant):
    """Share of the rows of a variant that a calibration's intervals hold, and their ends over those of the weights."""
    part = new.take((new.fields["q_len"] == 1) == (variant == "decode"))
    one = calibrated.estimate(KIND, part.call(), H100, found)
    plain = learned.estimate(KIND, part.call(), calibrated.calibrated_gpu(H100, found))
    assert one.time_s == pytest.approx(plain.time_s, rel=1e-12)
    share = ((one.low_s <= part.time_s) & (part.time_s <= one.high_s)).mean()
    return float(share), one.low_s / plain.low_s, one.high_s / plain.high_s


@pytest.mark.parametrize("factor", [1.5, 0.7])
@pytest.mark.parametrize("variant", ["decode", "prefill"])
def test_few_rows_whose_rates_were_tuned_have_intervals_that_hold_further_ones(factor, variant):
    found = fit_calibration(measured(20, 1, factor, 0.02), H100).file
    kernel = found.kernels[f"vllm.fa3.bf16.{variant}"]
    assert (kernel.method, kernel.rows) == ("hardware", 10)
    assert kernel.after > 0.1
    share, low, high = held(found, measured(300, 7, factor, 0.02), variant)
    assert share >= 0.8
    assert (high if factor > 1 else 1 / low).min() > 1.05
    assert parse(render(found), "x") == found


def test_few_rows_far_outside_widen_intervals_where_nothing_was_tuned():
    new, shares = measured(300, 70, 1.0, 0.3), []
    for seed in range(4):
        found = fit_calibration(measured(20, seed, 1.0, 0.3), H100).file
        for variant in ("decode", "prefill"):
            assert found.kernels[f"vllm.fa3.bf16.{variant}"].method == "zero-shot"
            share, low, high = held(found, new, variant)
            assert low.max() <= 1 <= high.min()
            shares.append(share)
    assert 0.75 <= np.mean(shares) <= 0.9


@pytest.mark.parametrize("variant", ["decode", "prefill"])
@pytest.mark.parametrize(("factor", "method"), [(1.0, "zero-shot"), (1.1, "hardware")])
def test_few_rows_that_are_right_leave_intervals_as_they_were(factor, method, variant):
    found = fit_calibration(measured(20, 0, factor, 0.01), H100).file
    assert found.kernels[f"vllm.fa3.bf16.{variant}"].method == method
    share, low, high = held(found, measured(300, 7, factor, 0.01), variant)
    assert share >= 0.8
    assert np.concatenate([low, high]) == pytest.approx(1.0, rel=1e-9)


def test_intervals_of_few_rows_are_never_narrower_than_those_of_the_weights_and_one_call_is_a_row_of_a_column():
    found = fit_calibration(measured(20, 1, 1.5, 0.02), H100).file
    new = measured(60, 3, 1.5, 0.0)
    _, low, high = held(found, new, "decode")
    assert low.max() <= 1 + 1e-9
    assert high.min() >= 1 - 1e-9
    call = KIND.call_type(
        batch=2, q_len=1, kv_len=2048, heads=32, kv_heads=8, head_dim=128, engine="vllm", kernel="fa3"
    )
    one = calibrated.estimate(KIND, call, H100, found)
    column = calibrated.estimate(KIND, replace(call, kv_len=np.array([2048, 4096])), H100, found)
    assert (one.low_s, one.high_s) == pytest.approx((column.low_s[0], column.high_s[0]), rel=1e-5)


def test_errors_beyond_what_a_file_may_hold_are_cut():
    (one,) = regimes(np.array([1.0, 1e6]), np.ones(2), "x")
    assert (one.rows, one.low, one.high) == (2, 0.0, MOST_LOG)
